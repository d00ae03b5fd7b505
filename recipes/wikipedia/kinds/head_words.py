"""Head nouns by which leads tell what their subject is, by type; of two types the first counts."""

from __future__ import annotations

_WORDS = {
    "person": """
        abolitionist academic activist actor actress administrator admiral agent ambassador anarchist anchor animator
        anthropologist archaeologist archer architect aristocrat artist astrologer astronaut astronomer athlete
        attorney author aviator back ballerina banker baritone baron barrister baseman bassist batsman biathlete
        billionaire biochemist biographer biologist bishop blogger bobsledder botanist bowler boxer brewer brigadier
        broadcaster brother bullfighter businessman businesswoman canoeist canoer captain cardinal cartographer
        cartoonist catcher cellist champion chancellor character chef chemist chief choreographer cinematographer
        citizen clarinetist clergyman climber coach colonel columnist comedian commander commentator commissioner
        commodore communist competitor composer conductor congressman congresswoman consul contralto cornerback
        cornerman cosmonaut councillor councilman cricketer criminal critic curator curler cyclist dancer daughter
        decathlete defenceman defender defenseman deity dentist designer detective developer diarist diplomat director
        diver dj doctor dramatist driver drummer duke earl ecologist economist editor educator emperor end engineer
        engraver entertainer entomologist entrepreneur envoy epidemiologist equestrian essayist etcher executive
        explorer farmer father feminist fencer fielder fighter figure filmmaker financier flanker flautist flutist
        fly-half footballer forward founder freestyler frontiersman fullback gangster general geneticist geographer
        geologist goalkeeper goaltender god goddess goldsmith golfer governor guitarist gunfighter gymnast hacker
        halfback harpist heir heiress heptathlete hero heroine historian hooker host humanitarian humanoid humorist
        hurdler husband illustrator impresario industrialist infielder instrumentalist inventor investor jockey
        journalist judge judoka jumper jurist justice karateka keyboardist kickboxer kicker killer king landowner
        lawyer leader leftback legislator librarian lieutenant linebacker lineman linguist lock luchador luger
        lyricist magician magnate major man manager marathoner marshal mathematician mayor medalist medallist
        memoirist merchant mezzo-soprano midfielder milliner minister missionary mixed model monarch monk mother
        mountaineer multi-instrumentalist murderer musician mutant naturalist newsreader nobleman noblewoman novelist
        nun nurse oarsman oarswoman oboist officer official olympian operator organist ornithologist outfielder outlaw
        painter paleontologist paralympian parliamentarian pentathlete percussionist performer person personality
        pharaoh pharmacologist philanthropist philosopher photographer physician physicist physiologist pianist pilot
        pioneer pirate pitcher placekicker planter player playwright poet poetess policeman politician polo pope
        potter practitioner premier presenter president priest prince princess printer producer professor programmer
        promoter prop psychiatrist psychologist publisher punter putter quarterback queen rabbi racer rancher rapper
        rebel receiver referee reporter representative researcher restaurateur revolutionary rider rightback rikishi
        robot rower ruler runner sailor saint satirist saxophonist scholar scientist scout screenwriter scrum-half
        sculptor secretary senator sergeant servant settler sheriff shooter shortstop silversmith singer
        singer-songwriter sister skateboarder skater skeletoner skier slave sledder snowboarder socialist socialite
        sociologist soldier soloist son songwriter soprano speaker sportsman sportsperson sportswoman sprinter spy
        star statesman statesperson statistician striker suffragette suffragist sultan sumo superhero supervillain
        surfer surgeon swimmer tackle taekwondoin tailor teacher tenniswoman tenor theologian thrower trader trainer
        translator treasurer triathlete trombonist trumpeter tycoon umpire unionist vampire vaulter ventriloquist
        villain violinist violist virologist vocalist walker weightlifter wicket-keeper wife winemaker winger woman
        wrestler writer yachtsman yachtswoman youtuber zoologist
    """,
    "organization": """
        academy act agency airline alliance archdiocese army assembly association authority automaker bakery band bank
        battalion body bookmaker boyband branch brewery brigade bureau cabinet carmaker carrier cartel chain channel
        charity choir club coalition collective college command commission committee company confederation conference
        conglomerate congress conservatory consortium contractor cooperative corporation corps council court
        denomination department diocese distributor division duo ensemble exchange faculty federation firm fleet force
        foundation franchise fraternity fund gang government group gymnasium hospital institute institution insurer
        kindergarten label league legion legislature lyceum mafia manufacturer militia ministry movement navy network
        orchestra organisation organization parliament party police polytechnic provider publishing quartet quintet
        regiment restaurant retailer school seminary senate service shipbuilder side society sorority squadron startup
        station studio subsidiary supergroup supermarket supplier syndicate team teams think-tank trio troupe union
        unit university utility wholesaler wing
    """,
    "place": """
        abbey aerodrome agglomeration airfield airport airstrip aquarium aqueduct arch archipelago area arena
        arrondissement asteroid atoll attraction avenue ballpark barangay barn barony basilica basin bay beach bezirk
        block borough boulevard bridge building bungalow bypass caliphate camp campus canal canton cantons canyon cape
        capital casino castle cathedral cave cemetery center centre chapel church circuit citadel cities city cliff
        coast colony commune communes community complex comune congregation constellation constituency continent
        conurbation convent cottage counties country county courthouse crater creek crossing dam delta dependency
        desert district districts dong duchy electorate emirate empire enclave estate estuary exclave exoplanet
        expressway exurb facility farm farmhouse field firth fjord footpath forest fort fortress frazione freeway
        galaxy gallery garden gate ghost glacier gmina gorge governorate ground gulf gym hall hamlet harbor harbour
        headland headquarters highway hill hills homeland hotel hotel-casino house hydroelectric inlet interchange
        intersection island islands islet islets isthmus kampung kingdom kommune krai laboratory lagoon lake landmark
        lighthouse line localities locality location mall mandal manor mansion marsh mausoleum megacity metro
        metropolis mill mine monastery monument moon mosque motorway mountain mountains municipalities municipality
        museum natatorium nation nebula neighborhood neighbourhood oasis oblast observatory ocean okrug orchard
        ortsgemeinde pagoda palace panchayat parish parishes park pass peak peninsula piazza pier place plain planet
        planetarium plantation plateau plaza port powiat prefecture prefectures principality priory prison property
        protectorate province provinces quarry quarter racecourse racetrack railroad railway raion ranch range rayon
        reef refinery region regions republic reservation reserve reservoir residence resort ridge rink river road
        route sea seat settlement shrine site skyscraper skyscrapers sound speedway spring square stadium state states
        strait stratovolcano stream street subcontinent subdivision suburb subway sultanate swamp synagogue taluk
        taluka tehsil temple tenement terminus territory theater theatre tomb tower town towns township townships
        trail tramway tributary tunnel upazila valley velodrome venue viaduct villa village villages vineyard voblast
        voivodeship volcano wall ward waterfall watermill watershed weir wetland wharf windmill winery woreda zoo
    """,
    "event": """
        accident affair anniversary armistice assassination attack avalanche award awards battle bombing bowl campaign
        celebration ceremony championship championships competition concert conflict convention coup crash crisis cup
        cyclone derby disaster draft earthquake edition election elections epidemic eruption event exhibition
        expedition explosion expo fair famine festival final fire flood games holiday hurricane incident invasion
        landslide leg marathon massacre match meet meeting mission murder mutiny observance occupation olympiad
        operation outbreak pageant pandemic plague playoff playoffs protest qualification qualifiers race raid rally
        rebellion referendum regatta results revolution riot round scandal season shooting siege skirmish stage
        staging storm strike summit symposium tornado tour tournament treaty trial truce uprising voyage war
    """,
    "work": """
        adaptation album altarpiece anime anthem anthology artwork autobiography ballad ballet biography blog book
        cartoon collection comedy comic comics compilation composition concerto daily database dictionary documentary
        drama dvd encyclopedia entry ep epic episode essay fable fairytale film fresco game gospel hymn installment
        journal legend magazine manga manuscript march melodrama memoir miniseries mosaic movie mural musical myth
        newsletter newspaper novel novels opera painting periodical photograph piece play podcast poem portrait
        prequel program programme psalm remake saga screenplay scripture sculpture sequel serial series short show
        single sitcom soap sonata song soundtrack special spin-off spinoff statue stories story strip symphony tabloid
        tale telefilm telenovela text thriller title track treatise trilogy triptych video waltz webcomic webseries
        website weekly western wiki
    """,
    "product": """
        aircraft airliner antibiotic antidepressant app application automobile barque battleship beer beverage bicycle
        biplane boat bomb bomber brand brig browser bus camera candy cannon car cartridge catamaran cereal cheese chip
        coaster computer console convertible corvette coupe cruiser destroyer device doll dreadnought drink drug
        engine ferry format framework frigate glider grenade guitar gun gunboat hatchback helicopter howitzer
        icebreaker instrument jet knife laptop lens library liner liquor locomotive machine machine-gun medication
        microprocessor minesweeper minivan missile monoplane mortar motorcycle opioid phone piano pickup pistol
        platform probe processor product protocol revolver ride rifle roadster rocket rover satellite schooner scooter
        sedan ship shuttle sloop smartphone snack soda software spacecraft standard steamer steamship submarine
        supercar suv sword tablet tank tanker tool torpedo toy tractor train tram trawler trimaran trolleybus truck
        tugboat u-boat vaccine van vehicle vessel weapon whiskey whisky wine yacht
    """,
    "species": """
        alga amphibian animal animals ape bacterium bat beetle bird birds breed butterfly cactus cat cattle chicken
        clade colt crustacean cultivar dinosaur dog dolphin duck eagle fern filly fish fishes flower frog fungus
        gelding genera genus goat goose grass herb horse hybrid insect insects lizard mammal mare mollusc mollusk
        monkey moss moth mushroom orchid owl penguin pig plant plants racehorse reptile rodent shark sheep shrub snail
        snake species spider stallion subspecies taxon thoroughbred tree turtle virus whale
    """,
    "other": """
        acid age algorithm alloy alphabet belief bread calendar cancer caste century chemical clan color colour
        compound concept condition cuisine currency dance degree dessert dialect dialects discipline disease dish
        disorder doctrine dynasty effect element enzyme epoch equation era ethnic food function gas gene genre hormone
        ideology infection job language law letter measure medal metal method mineral molecule music name number
        office order particle people period phenomenon philosophy position practice process profession protein rank
        religion right rule sauce science script soup sport style subgenre substance surname syndrome system technique
        term theorem theory tribe word
    """,
}
TYPE_OF_HEAD = {word: kind for kind, words in _WORDS.items() for word in words.split()}
