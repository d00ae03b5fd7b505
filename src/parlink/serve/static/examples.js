// Texts to try, by what people write about.

export const EXAMPLES = {
  Computing: `When Ada Lovelace met Charles Babbage in London, he showed her a part of his Difference Engine. \
Her notes on the Analytical Engine are often called the first program, a century before Alan Turing worked in \
Cambridge and Manchester. A street in Paris and a crater on the Moon \u{1F315} are named after her.`,
  Politics: `The prime minister of Japan met the president of France in Geneva on Monday. They spoke about trade with \
China and about the war in Ukraine. The United Nations and the European Union sent observers, and Germany offered to \
hold the next meeting in Berlin.`,
  Sport: `Leicestershire play Kent at Grace Road on Saturday. In the Premier League, Arsenal lost to Liverpool, and \
Manchester United drew with Everton. Roger Federer, who was born in Basel, watched from the stands at Wimbledon.`,
  Music: `The Beatles recorded in London before they ever played in the United States. John Lennon later moved to New \
York City, while Paul McCartney stayed in England and founded Wings. In Hamburg they had played for eight hours a night.`,
  Science: `Marie Curie was born in Warsaw and studied in Paris, where she discovered polonium, named after Poland, and \
radium. Albert Einstein wrote of her from Zürich. Mercury, the planet, moved as his theory of general relativity said.`,
};
