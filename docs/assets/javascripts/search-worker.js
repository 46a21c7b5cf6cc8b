// The search of this site: MiniSearch (vendor/) with this site's words. It takes the place of the theme's worker
// (docs/hooks/site_search.py) and answers its messages, so that field, list and keys stay the theme's.
//
// Each section of a page is a result of its own. No word of the query must occur: questions and pasted messages hold
// words that no page has. What is counted how much was found by trying values on docs/data/search/tuning.yaml.
const SETUP = 0, READY = 1, QUERY = 2, RESULT = 3 // the theme's types of messages
const FIELDS = { heading: 2.5, page: 2, other: 4.5, text: 1, code: 0.5 } // other: docs/data/search/words.yaml
const SYNONYM = 0.1  // the weight of words not typed but meant: docs/data/search/ranking.yaml
const FEW = 0.4, FAINT = 80 // nothing fits if the best result has less than this share of the words, and this score
const LONGEST = 1000 // characters of a query that are read: enough for any message
const PASTED = 120   // more characters are pasted: no spelling is wrong there
const RESULTS = 30, TEASER = 240
const READ = 100     // sections of which the order of words is read

const STOP_WORDS = new Set(
  (
    "a about actually after am an and any are as at be because been being but by can could did do does doing for " +
    "from had has have how i if in into is it its just know like me my of on or our really should so some than " +
    "that the their them then there these they this to use using want was way we were what when where which " +
    "while who why will with would you your"
  ).split(" ")
)
const STOP_CHINESE =
  /为什么|为啥|怎么[办样]?|什么|如何|多少|可以|能不能|是不是|有没有|会不会|哪[个些里]|非常|特别|超级|十分(?!钟)|极其|相当(?!于)|[极超巨好奇](?=慢)|[的了吗呢吧啊么是在和与或着也还就都太很最更]/u
const NUMBER = /^(?:\d+|0x.*|[\da-f]{8,})$/, CARD = /^\d0[5-9]0$/
const WORD = /\p{sc=Han}+|(?:(?!\p{sc=Han})[\p{L}\p{N}_])+(?:\.(?:(?!\p{sc=Han})[\p{L}\p{N}_])+)*/gu
// What belongs to the writer's machine in a pasted message: line numbers, folders, releases.
const LINES = /\bline \d+/g, RELEASES = /\bv?\d+(?:\.\d+)+(?:[a-z]+\d*)?(?:\+\w+)?/g
const PATHS = /(?<![\w:/.])(?:~|\.{1,2})?(?:\/[\w.@+~-]+)*\/([\w.@+~-]+)/g
// Of a traceback, what went wrong is behind the last name of an error, or behind the last place in the code.
const CODE_PLACE = /\bFile "[^"]*", line \d+(?:, in [\w.<>]+)?/g
const RAISED = /(?:(?<![\w.])[\w.]*(?:Error|ERROR|Exception|Warning): ?)+(?=\S+\s+\S)/g

let engine, sections, weights, synonyms, common, names, unknown, messages // the last five: docs/data/search/ranking.yaml
const vocabulary = new Map() // word: how many fields of sections have it
const titled = new Set() // words of headings, and the other words of sections

// ---- Words ----

// One form for the forms of a word. Not every ending is one: index and query are cut alike, which is enough.
function stem(word) {
  if (/[0-9_]/.test(word) || word.length < 4) return word
  let short = word.replace(/ies$/, "y").replace(/([^s])s$/, "$1")
  if (short.length > 5) short = short.replace(/(?:ing|ed)$/, "")
  if (short !== word) short = short.replace(/([bdgmnprt])\1$/, "$1")
  return short.length > 4 ? short.replace(/e$/, "") : short
}

// The words of a text. Names in code count whole and in parts; Chinese as pairs of characters.
function words(text) {
  const found = []
  for (const [run] of text.matchAll(WORD)) {
    if (/^\p{sc=Han}/u.test(run)) {
      for (const part of run.split(STOP_CHINESE)) {
        if (part.length === 1) found.push(part)
        for (let i = 0; i + 1 < part.length; i++) found.push(part.slice(i, i + 2))
      }
      continue
    }
    const parts = run.split(/[._]+|(?<=[a-z])(?=[A-Z])/).filter(Boolean)
    found.push(...parts.map(part => stem(part.toLowerCase())))
    if (parts.length > 1) found.push(stem(run.toLowerCase()))
  }
  return found
}

// Whether few sections are about a word of Latin letters: a package, a model, an operator.
const isName = word => /^[a-z]\w{2}/.test(word) && titled.has(word) && !common.words.has(word) &&
  vocabulary.get(word) <= names.fields

// A name is searched without its release too (yolo11); an operator that no page names, asked for alone, leads to the
// list of operators.
function further(word, _, uncommon) {
  const alone = uncommon.every(other => word.includes(other))
  if (alone && !vocabulary.has(word) && /_|^torch\./.test(word)) return words(unknown)
  const [, name] = word.match(/^([a-z]{3,}?)v?\d+$/) ?? []
  return isName(name) ? [name] : []
}

// The words that a query asks for, and those that readers mean by them. Numbers tell little; 3070 and 4090 are cards.
function asked(query, pasted) {
  const all = words(query)
  const telling = all.filter(word => !STOP_WORDS.has(word) && (CARD.test(word) || !NUMBER.test(word)))
  const typed = new Set(telling.length ? telling : all)
  const uncommon = [...typed].filter(word => /^[a-z]/.test(word) && !common.words.has(word))
  const last = [...typed].at(-1)
  if (!pasted) uncommon.flatMap(further).forEach(word => typed.add(word))
  const meant = synonyms.flatMap(([pattern, more]) => (pattern.test(query) ? words(more) : []))
  const few = !pasted && uncommon.length <= names.besides
  const decisive = few ? [...typed].filter(isName) : []
  return { typed, last, decisive, terms: [...new Set([...typed, ...meant])] }
}

// The words of a message in their order. All numbers are one word, because only the place of a number repeats; so is
// all Chinese: messages are English.
const inOrder = (text, chinese) => (text.toLowerCase().match(WORD) ?? [])
  .flatMap(run => (/^\p{sc=Han}/u.test(run) ? chinese : run.split(".")))
  .map(word => (NUMBER.test(word) ? "#" : word))

// How many words of a message follow each other in a section as well.
function longestRun(message, { title, text }) {
  const whole = ` ${inOrder(`${title} ${text}`, "").join(" ")} `
  let start = 0, longest = 0
  for (let end = 1; end <= message.length; end++) {
    while (start < end && !whole.includes(` ${message.slice(start, end).join(" ")} `)) start++
    longest = Math.max(longest, end - start)
  }
  return longest
}

// ---- Ranking ----

// The sections of the file, whose form compresses well: `packed` in docs/hooks/site_search.py. An empty field is none.
function unpacked({ docs, other, code, see }) {
  const rows = Object.entries(docs).flatMap(([page, rows]) =>
    rows.map(([anchor, title, text]) => ({ location: page + (anchor && `#${anchor}`), title, text })))
  return rows.map((row, id) => (
    { ...row, other: other[id] || undefined, code: code[id] || undefined, see: see[id]?.map(at => rows[at].location) }
  ))
}

function setup({ pages, synonyms: meanings, ...ranking }) {
  const titles = new Map()
  weights = Object.entries(pages)
  common = { ...ranking.common, words: new Set(words(ranking.common.words)) }
  names = ranking.names
  unknown = ranking.unknown
  messages = ranking.messages
  synonyms = Object.entries(meanings).map(([words, more]) => [
    new RegExp(/\p{sc=Han}/u.test(words) ? words : `(?<![a-z0-9])(?:${words})(?![a-z0-9])`, "iu"), more,
  ])
  const known = (text, field) => {
    const found = words(text)
    if (field === "heading" || field === "other") found.forEach(word => titled.add(word))
    new Set(found).forEach(word => vocabulary.set(word, (vocabulary.get(word) ?? 0) + 1))
    return found
  }
  engine = new MiniSearch({ fields: Object.keys(FIELDS), tokenize: known, processTerm: word => word })
  sections = unpacked(ranking).map((section, id) => {
    const address = section.location.split("#")[0]
    if (!titles.has(address)) titles.set(address, section.title) // the theme puts a page before its sections
    return { ...section, id, heading: section.title, page: address === section.location ? "" : titles.get(address) }
  })
  engine.addAll(sections)
}

// How much the pages below an address count: docs/data/search/ranking.yaml.
function weightOf({ location }) {
  return weights.find(([start]) => location.startsWith(start))?.[1] ?? 1
}

// The score of a result. MiniSearch multiplies it by the number of words found, of which a common one is less.
function scoreOf({ score, queryTerms }) {
  const lighter = queryTerms.filter(word => common.words.has(word)).length * (1 - common.weight)
  return score * (1 - lighter / queryTerms.length)
}

// What the order of the words adds to a message's score: docs/data/search/ranking.yaml.
function runOf(order, { id }) {
  if (order.length <= messages.from || !sections[id].location.startsWith(messages.pages)) return 1
  return 1 + messages.weight * Math.max(0, longestRun(order, sections[id]) - messages.from)
}

// Sections, the best first. One without an answer of its own yields to the one that it leads to.
function ranked(query, pasted) {
  const { typed, last, decisive, terms } = asked(query, pasted)
  const found = engine.search(query, {
    tokenize: () => terms,
    boost: FIELDS,
    prefix: word => word === last && /^[a-z]{3}/.test(word),
    fuzzy: word => typed.has(word) && !pasted && !vocabulary.has(word) && /^[a-z]{4}/.test(word) && 0.2,
    boostTerm: word => (decisive.includes(word) ? names.weight : typed.has(word) ? 1 : SYNONYM) *
      (common.words.has(word) ? common.weight : 1),
    boostDocument: id => weightOf(sections[id]),
  }).sort((one, other) => scoreOf(other) - scoreOf(one)).slice(0, READ)
  if (!found.length) return []
  const order = inOrder(query, "中")
  for (const result of found) result.run = runOf(order, result)
  found.sort((one, other) => scoreOf(other) * other.run - scoreOf(one) * one.run).splice(RESULTS)
  const words = found[0].queryTerms, literal = words.filter(word => typed.has(word))
  const telling = literal.length < words.length || decisive.length // a name says enough alone
  if (!telling && words.length < FEW * typed.size && found[0].score < FAINT) return []
  const best = sections[found[0].id]
  const fuller = found.slice(0, 3).findIndex(({ id }) => best.see?.includes(sections[id].location))
  if (fuller > 0) found.unshift(...found.splice(fuller, 1))
  return found.map(({ id }) => sections[id])
}

// ---- What the theme shows ----

const escaped = text => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")

function answer(text) {
  const pasted = text.length > PASTED
  const query = pasted ? raised(text).replace(LINES, " ").replace(PATHS, shortened).replace(RELEASES, numbers) : text
  const typed = [...new Set(query.match(/\p{sc=Han}{2,}|(?:(?!\p{sc=Han})[\p{L}\p{N}_]){2,}/gu) ?? [])]
    .filter(word => !STOP_WORDS.has(word.toLowerCase()))
  const longestFirst = [...typed].sort((a, b) => b.length - a.length)
  const chinese = longestFirst.filter(word => /^\p{sc=Han}/u.test(word))
  const others = longestFirst.filter(word => !chinese.includes(word)).join("|")
  const beginning = others ? [`(?<![\\p{L}\\p{N}_])(?:${others})`] : [] // no "oom" in "room"
  const pattern = typed.length ? new RegExp(`(${[...beginning, ...chinese].join("|")})`, "giu") : /($^)/g
  const terms = Object.fromEntries(typed.map(word => [word, true]))
  return ranked(query, pasted).map((section, place) => [item(section, RESULTS - place, pattern, terms)])
}

// What a traceback says at its end, or above it where it was cut off; another text as it is.
function raised(text) {
  const place = [...text.matchAll(CODE_PLACE)].at(-1)
  if (!place) return text
  const message = [...text.matchAll(RAISED)].at(-1)
  if (message?.index > place.index) return text.slice(message.index)
  const above = text.slice(0, Math.max(0, text.indexOf("Traceback (most")))
  return above + text.slice(place.index + place[0].length)
}

// Of a release its numbers, which only count in the order of the words, and what is behind its plus: `cu121`.
function numbers(release) {
  const [version, local = ""] = release.split("+")
  return [...version.match(/\d+/g), local].join(" ")
}

// Of a path the name of the file, if it is not a module's: `libomp.dylib` tells more than where it is.
function shortened(path, name) {
  return name.endsWith(".py") ? " " : ` ${name}`
}

// The theme shows no text under the title of a section that stands alone, so its title brings it.
function item({ location, title, page, text }, score, pattern, terms) {
  const at = text.search(pattern)
  const start = at > 80 ? text.indexOf(" ", at - 60) + 1 : 0
  const from = start > 0 && start <= at ? start : Math.max(0, at > 80 ? at - 40 : 0)
  const whole = from + TEASER >= text.length
  const part = text.slice(from, from + TEASER).replace(whole ? "" : /\s[\x21-\x7e]*$/, "").trim() // whole words
  const mark = string => string.split(pattern).map(escaped)
    .map((piece, number) => (number % 2 ? `<mark data-md-highlight>${piece}</mark>` : piece)).join("")
  const teaser = part && `<small>${from ? "… " : ""}${mark(part)}${whole ? "" : " …"}</small>`
  return { location, title: (page && `<span>${escaped(page)} › </span>`) + mark(title) + teaser, text: "", score, terms }
}

// The first query loads the sections. Of queries that come meanwhile, the last one is answered.
let loaded, newest
async function load() {
  if (!self.MiniSearch) importScripts(new URL("../vendor/minisearch.min.js", location))
  const file = await fetch(new URL("../../../search/sections.json", location))
  setup(await file.json())
}
addEventListener("message", async ({ data: { type, data } }) => {
  if (type === SETUP) postMessage({ type: READY })
  if (type !== QUERY) return
  newest = data
  // Of what is too long both ends: a traceback says at its end what went wrong.
  const query = data.length > LONGEST ? `${data.slice(0, LONGEST / 2)} ${data.slice(-LONGEST / 2)}` : data
  if (query.trim()) {
    loaded ??= load()
    try {
      await loaded
    } catch (error) {
      loaded = undefined // the next key tries again
      throw error
    }
  }
  if (data !== newest) return
  postMessage({ type: RESULT, data: { items: query.trim() ? answer(query) : [], suggest: [] } })
})
