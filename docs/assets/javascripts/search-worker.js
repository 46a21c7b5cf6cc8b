// The search of this site. It takes the place of the theme's worker (docs/hooks/site_search.py) and answers its
// messages, so that field, list and keys stay the theme's.
//
// A section's score is BM25 over the words of its heading, its page's title, its text, and the other words
// that readers have for it; more where neighbours in the query are neighbours there, and where headings and
// other words hold much of the query. A page has the score of its best section, and some of its others'.
// No word of the query must occur: questions and pasted messages hold words that no page has.
const SETUP = 0, READY = 1, QUERY = 2, RESULT = 3 // the theme's types of messages

// Found by trying values on docs/data/search/tuning.yaml.
const TITLE = 5, PAGE_TITLE = 4.5  // what a word of the heading, and of the page's title, counts instead of 1
const OTHER_WORDS = 4.5            // and one of the other words: docs/data/search/words.yaml
const HEADING = 1.8                // what headings and other words add that hold all of the query
const MACHINE = 0.4                // the weight of words for the reader's machine, seldom what is asked for
const SATURATION = 1.2, LENGTH = 0.6 // BM25's k1 and b
const NEIGHBOURS = 0.35            // what two words side by side add, as a share of their weight
const COVERAGE = 0.15              // how much a section loses that has none of the words
const OTHERS = 0.4, WHOLE = 0.12   // what a page's next sections add, and all its words wherever they are
const BEGINS = 0.5, MISTYPED = 0.8 // the weight of a word that begins with the one asked for, or is nearly it
const MISTYPED_END = 0.2 // that of a Chinese pair when only one neighbour speaks for it
const SYNONYM = 0.7, CHARACTER = 0.3 // the weight of words not typed but meant, and of one Chinese character
const CANDIDATES = 80, PAGES = 30, SECTIONS = 6, TEASER = 240
const LONGEST = 1000 // characters of a query that are read: enough for any message
const TYPED = 120    // more characters are pasted: no spelling is wrong there

const STOP_WORDS = new Set(
  (
    "a about actually after am an and any are as at be because been being but by can could did do does doing for " +
    "from had has have how i if in into is it its just know like me my of on or our really should so some than " +
    "that the their them then there these they this to use using want was way we were what when where which " +
    "while who why will with would you your"
  ).split(" ")
)
const STOP_CHINESE =
  /为什么|为啥|怎么[办样]?|什么|如何|多少|可以|能不能|是不是|有没有|会不会|哪[个些里]|[的了吗呢吧啊么是在和与或着也还就都太很最更]/u
const WORD = /\p{sc=Han}+|(?:(?!\p{sc=Han})[\p{L}\p{N}_])+(?:\.(?:(?!\p{sc=Han})[\p{L}\p{N}_])+)*/gu

let sections, postings, average, weights, synonyms, machines, vocabulary, characters, known

// ---- Words ----

// One form for the forms of a word. Not every ending is one: index and query are cut alike, which is enough.
function stem(word) {
  if (/[0-9_]/.test(word) || word.length < 4) return word
  let short = word.replace(/ies$/, "y").replace(/([^s])s$/, "$1")
  if (short.length > 5) short = short.replace(/(?:ing|ed)$/, "")
  if (short !== word) short = short.replace(/([bdgmnprt])\1$/, "$1")
  return short.length > 4 ? short.replace(/e$/, "") : short
}

// The words of a text. Names in code count whole and in parts; Chinese as characters and as pairs of them.
function words(text) {
  const found = []
  for (const [run] of text.matchAll(WORD)) {
    if (/^\p{sc=Han}/u.test(run)) {
      for (const part of run.split(STOP_CHINESE)) {
        found.push(...part)
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

// Whether one word becomes the other with at most `limit` letters added, left out, changed, or swapped.
function nearly(one, other, limit) {
  if (Math.abs(one.length - other.length) > limit) return false
  let before, row = Array.from({ length: other.length + 1 }, (_, j) => j)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] !== other[j - 1]))
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        next[j] = Math.min(next[j], before[j - 2] + 1)
    }
    if (Math.min(...next) > limit) return false
    before = row
    row = next
  }
  return row[other.length] <= limit
}

// The words of the index that a word stands for, with their weights. The last one may not be finished, and
// one that is typed, not pasted, may be misspelt.
function meant(word, unfinished, pasted) {
  const key = `${word} ${unfinished} ${pasted}`
  if (!known.has(key)) known.set(key, lookedUp(word, unfinished, pasted))
  return known.get(key)
}

function lookedUp(word, unfinished, pasted) {
  const exact = postings.has(word) ? [[word, 1]] : []
  if (!/^[a-z]{3}/.test(word) || (exact.length && !unfinished)) return exact
  const begins = vocabulary.filter(other => other.startsWith(word) && other.length <= word.length + 6)
  const share = exact.length ? BEGINS / 2 : BEGINS
  const found = [...exact, ...begins.filter(other => other !== word).map(other => [other, share])]
  if (exact.length || pasted || word.length < 4) return found
  for (let limit = 1; limit <= (word.length > 6 ? 2 : 1); limit++) {
    const similar = vocabulary.filter(other => nearly(word, other, limit))
    const likely = similar.filter(other => other[0] === word[0]) // the first letter is seldom the wrong one
    const taken = likely.length ? likely : similar
    if (taken.length) return [...found, ...taken.map(other => [other, MISTYPED])]
  }
  return found
}

// The pairs of Chinese characters that no page has, and the pairs that stand for them if one character is
// wrong: one in whose place another makes pairs of the index with both of its neighbours.
function mendedPairs(query) {
  const found = new Map()
  const stands = (pair, other, share) => {
    if (!found.has(pair)) found.set(pair, new Map())
    found.get(pair).set(other, Math.max(share, found.get(pair).get(other) ?? 0))
  }
  for (const [run] of query.matchAll(/\p{sc=Han}{2,}/gu))
    for (const part of run.split(STOP_CHINESE))
      for (let i = 0; i < part.length; i++) {
        const before = part[i - 1], after = part[i + 1]
        if (part.length < 2 || postings.has(before + part[i]) || postings.has(part[i] + after)) continue
        const fitting = characters.filter(
          other => (!before || postings.has(before + other)) && (!after || postings.has(other + after))
        )
        const share = before && after ? MISTYPED : MISTYPED_END
        for (const other of fitting) {
          if (before) stands(before + part[i], before + other, share)
          if (after) stands(part[i] + after, other + after, share)
        }
      }
  return found
}

// What is meant by words that readers have for it and the pages have not: docs/data/search/ranking.yaml.
function alsoMeant(query) {
  return synonyms.flatMap(([pattern, more]) => (pattern.test(query) ? words(more) : []))
}

// ---- Index ----

function plain(html) {
  const entities = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" }
  const text = html.replace(/<\/?code>/g, "").replace(/<[^>]+>/g, " ") // no space between code and a full stop
  return text.replace(/&(lt|gt|quot|#39|amp);/g, (_, name) => entities[name])
}

function setup({ docs, ...ranking }) {
  const pages = new Map()
  postings = new Map()
  weights = Object.entries(ranking.pages)
  synonyms = Object.entries(ranking.synonyms).map(([words, more]) => [
    new RegExp(/\p{sc=Han}/u.test(words) ? words : `(?<![a-z0-9])(?:${words})(?![a-z0-9])`, "iu"), more,
  ])
  machines = new RegExp(`^(?:${ranking.machines})$`, "u")
  sections = docs.map((doc, number) => {
    const address = doc.location.split("#")[0]
    if (!pages.has(address)) pages.set(address, doc) // the theme puts a page before its sections
    const page = pages.get(address), title = plain(doc.title), text = plain(doc.text)
    const section = { doc, page, title, text, heading: words(title), body: words(text) }
    section.other = words(doc.other ?? "")
    const above = page === doc ? [] : words(plain(page.title))
    section.named = new Set([...section.heading, ...section.other, ...above])
    const counts = new Map()
    const count = (list, share) => list.forEach(word => counts.set(word, (counts.get(word) ?? 0) + share))
    count(section.body, 1)
    count(section.heading, TITLE)
    count(section.other, OTHER_WORDS)
    count(above, PAGE_TITLE)
    for (const [word, times] of counts) {
      if (!postings.has(word)) postings.set(word, [])
      postings.get(word).push([number, times])
    }
    return section
  })
  vocabulary = [...postings.keys()].filter(word => /^[a-z]/.test(word))
  characters = [...postings.keys()].filter(word => /^\p{sc=Han}$/u.test(word))
  known = new Map()
  average = sections.reduce((sum, { body }) => sum + body.length + 10, 0) / sections.length
}

// How much the pages below an address count: docs/data/search/ranking.yaml.
function weightOf(address) {
  return weights.find(([start]) => (start ? address.startsWith(start) : !address))?.[1] ?? 1
}

// ---- Ranking ----

const rarity = count => Math.log(1 + (sections.length - count + 0.5) / (count + 0.5))

// The sections in which a word occurs, given as what it stands for: their scores, and what it weighs where
// headings or other words hold it; and the word's own weight.
function occurrences(meanings) {
  const found = new Map(), named = new Map()
  let weight = 0
  for (const [other, share] of meanings) {
    const list = postings.get(other), value = share * rarity(list.length)
    weight = Math.max(weight, value)
    for (const [number, times] of list) {
      const length = 1 - LENGTH + (LENGTH * (sections[number].body.length + 10)) / average
      const score = (value * times * (SATURATION + 1)) / (times + SATURATION * length)
      found.set(number, Math.max(found.get(number) ?? 0, score))
      if (sections[number].named.has(other)) named.set(number, Math.max(named.get(number) ?? 0, value))
    }
  }
  return { found, named, weight }
}

// The sections that a query asks for, with their scores, and what each page has of it altogether.
function scored(query) {
  const all = words(query)
  const telling = all.filter(word => !STOP_WORDS.has(word) && !/^(?:\d+|0x.*|[\da-f]{8,})$/.test(word))
  const asked = telling.length ? telling : all
  const typed = new Set(asked), last = asked.at(-1)
  const scores = new Map(), covered = new Map(), headed = new Map(), pages = new Map()
  const weightOfWord = new Map(), mended = mendedPairs(query)
  const add = (map, key, value) => map.set(key, (map.get(key) ?? 0) + value)
  let total = 0
  for (const word of new Set([...asked, ...alsoMeant(query)])) {
    const kind = /^\p{sc=Han}$/u.test(word) ? CHARACTER : machines.test(word) ? MACHINE : 1
    const factor = kind * (typed.has(word) ? 1 : SYNONYM)
    const meanings = mended.get(word) ?? meant(word, word === last, query.length > TYPED)
    const { found, named, weight } = occurrences(meanings)
    weightOfWord.set(word, weight * factor)
    if (typed.has(word)) total += weight * factor
    const best = new Map()
    for (const [number, score] of found) {
      const { page } = sections[number]
      add(scores, number, score * factor)
      if (typed.has(word)) {
        add(covered, number, weight * factor)
        add(headed, number, (named.get(number) ?? 0) * factor)
      }
      best.set(page, Math.max(best.get(page) ?? 0, score * factor))
    }
    for (const [page, score] of best) add(pages, page, score)
  }
  for (const [number, score] of scores)
    scores.set(number, score * (1 - COVERAGE + (COVERAGE * (covered.get(number) ?? 0)) / (total || 1)))
  const order = [...scores.keys()].sort((a, b) => scores.get(b) - scores.get(a)).slice(0, CANDIDATES)
  const pairs = new Map()
  for (let i = 1; i < asked.length; i++) {
    if (!pairs.has(asked[i - 1])) pairs.set(asked[i - 1], new Map())
    pairs.get(asked[i - 1]).set(asked[i], (weightOfWord.get(asked[i - 1]) + weightOfWord.get(asked[i])) / 2)
  }
  return {
    pages,
    sections: order.map(number => {
      const section = sections[number], near = NEIGHBOURS * neighbours(section, pairs)
      const heading = (HEADING * (headed.get(number) ?? 0) ** 2) / (total || 1)
      return { section, score: (scores.get(number) + near + heading) * weightOf(section.page.location) }
    }),
  }
}

function neighbours({ heading, other, body }, pairs) {
  const seen = new Map()
  for (const list of [heading, other, body])
    for (let i = 1; i < list.length; i++) {
      const weight = pairs.get(list[i - 1])?.get(list[i])
      if (weight) seen.set(`${list[i - 1]} ${list[i]}`, weight)
    }
  return [...seen.values()].reduce((sum, weight) => sum + weight, 0)
}

// Pages, the best first, each as its sections, the best first.
function ranked(query) {
  const { sections: found, pages } = scored(query)
  const groups = new Map()
  for (const entry of found.sort((a, b) => b.score - a.score)) {
    const { page } = entry.section
    if (!groups.has(page)) groups.set(page, [])
    groups.get(page).push(entry)
  }
  const score = ([page, [first, ...others]]) =>
    first.score + others.slice(0, 3).reduce((sum, other) => sum + (OTHERS / 3) * other.score, 0) +
    WHOLE * pages.get(page) * weightOf(page.location)
  return [...groups].map(group => [score(group), group[1].slice(0, SECTIONS)])
    .sort(([a], [b]) => b - a).slice(0, PAGES).map(([, entries]) => entries)
}

// ---- What the theme shows ----

const escaped = text => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")

function answer(query) {
  const typed = [...new Set(query.match(/\p{sc=Han}{2,}|(?:(?!\p{sc=Han})[\p{L}\p{N}_]){2,}/gu) ?? [])]
    .filter(word => !STOP_WORDS.has(word.toLowerCase()))
  const longestFirst = [...typed].sort((a, b) => b.length - a.length)
  const chinese = longestFirst.filter(word => /^\p{sc=Han}/u.test(word))
  const others = longestFirst.filter(word => !chinese.includes(word)).join("|")
  const beginning = others ? [`(?<![\\p{L}\\p{N}_])(?:${others})`] : [] // no "oom" in "room"
  const pattern = typed.length ? new RegExp(`(${[...beginning, ...chinese].join("|")})`, "giu") : /($^)/g
  const terms = Object.fromEntries(typed.map(word => [word, true]))
  return ranked(query).map(group => {
    const { page } = group[0].section
    const items = group.map(({ section, score }) => item(section, score, pattern, terms))
    if (!items.some(({ location }) => location === page.location))
      items.push({ location: page.location, title: page.title, text: "", score: 0, terms: {} })
    return items
  })
}

function item({ doc, title, text }, score, pattern, terms) {
  const at = text.search(pattern)
  const start = at > 80 ? text.indexOf(" ", at - 60) + 1 : 0
  const from = start > 0 && start <= at ? start : Math.max(0, at > 80 ? at - 40 : 0)
  const whole = from + TEASER >= text.length
  const part = text.slice(from, from + TEASER).replace(whole ? "" : /\s[\x21-\x7e]*$/, "").trim() // whole words
  const mark = string => string.split(pattern).map(escaped)
    .map((piece, number) => (number % 2 ? `<mark data-md-highlight>${piece}</mark>` : piece)).join("")
  const teaser = part && (from ? "… " : "") + mark(part) + (whole ? "" : " …")
  return { location: doc.location, title: mark(title), text: teaser, score, terms }
}

// The first query loads the sections. Of queries that come meanwhile, the last one is answered.
let loaded, newest
addEventListener("message", async ({ data: { type, data } }) => {
  if (type === SETUP) postMessage({ type: READY })
  if (type !== QUERY) return
  newest = data
  const query = data.slice(0, LONGEST)
  if (query.trim()) {
    loaded ??= fetch(new URL("../../../search/sections.json", location)).then(file => file.json()).then(setup)
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
