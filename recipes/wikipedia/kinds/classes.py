"""The type of an entity by its DBpedia class: one of eight."""

from __future__ import annotations

_CLASSES = {
    "person": """Architect BaseballPlayer CollegeCoach FictionalCharacter FigureSkater GolfPlayer GridironFootballPlayer
        IceHockeyPlayer MilitaryPerson Monarch Saint Scientist TennisPlayer VolleyballPlayer Wrestler""",
    "organization": """Airline Band EducationalInstitution Hospital Legislature MilitaryUnit PoliticalParty RadioStation
        RecordLabel School SoccerClub SportsLeague SportsTeam TelevisionStation University""",
    "place": """AdministrativeRegion Airport Building City Country HistoricPlace Hotel Island Lake Mountain Museum
        Planet PowerStation ProtectedArea RouteOfTransportation SiteOfSpecialScientificInterest Station Stream
        WorldHeritageSite""",
    "event": "GrandPrix MilitaryConflict Race",
    "work": "AcademicJournal Book Magazine Musical Newspaper Play Song TelevisionEpisode VideoGame",
    "product": "Aircraft Automobile AutomobileEngine Drug Locomotive Ship Weapon",
    "species": "Plant",
    "other": "ChemicalCompound Colour Disease EthnicGroup Language MusicGenre Protein Sales",
}
TYPE_OF_CLASS = {name: kind for kind, names in _CLASSES.items() for name in names.split()}
