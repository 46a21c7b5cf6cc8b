// What a search engine finds for queries, without a browser: tools/measuring/search_engines.py asks it.
//
//     node tools/measuring/search_engines.mjs worker SITE                < queries.json > addresses.json
//     node tools/measuring/search_engines.mjs pagefind SITE NODE_MODULES < queries.json > addresses.json
//
// SITE is the built site of one language. `worker` is the one that the site has in the place of the theme's;
// `pagefind` makes an index of the sections that the site's own search has, with the same weights, and asks it.
import { readFileSync, readdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import vm from "node:vm"

const FIRST = 10
const WEIGHTS = { heading: 2.5, page: 2, other: 4.5, text: 1, code: 0.5 } // as in search-worker.js
const STOP_WORDS =
  /(?<![\w'-])(?:a|am|an|and|any|are|as|at|be|but|by|can|could|do|does|for|from|had|has|have|how|i|if|in|into|is|it|its|my|of|on|or|should|so|than|that|the|their|them|there|this|to|use|using|was|we|what|when|where|which|while|who|why|will|with|would|you|your)(?![\w'-])|为什么|怎么[办样]?|什么|如何|多少|可以|能不能|是不是|有没有|会不会|哪[个些里]|[的了吗呢吧啊么是在和]/giu

// The answers of a worker that speaks the theme's protocol, in the order of its scores.
function askWorker(site) {
  const folder = join(site, "assets/javascripts/workers")
  const [file] = readdirSync(folder).filter(name => /^search\..*\.js$/.test(name))
  const sections = JSON.parse(readFileSync(join(site, "search/sections.json"), "utf8"))
  let receive, resolve
  const context = vm.createContext({
    URL,
    location: `http://localhost/assets/javascripts/workers/${file}`,
    addEventListener: (_, listener) => (receive = listener),
    postMessage: message => resolve?.(message),
    importScripts: url => vm.runInContext(readFileSync(join(site, new URL(url).pathname), "utf8"), context),
    fetch: async () => ({ json: async () => vm.runInContext(`(${JSON.stringify(sections)})`, context) }),
  })
  context.self = context
  vm.runInContext(readFileSync(join(folder, file), "utf8"), context)
  return async query => {
    const answer = new Promise(done => (resolve = done))
    receive({ data: { type: 2, data: query } })
    const { items } = (await answer).data
    return items.flat().sort((one, other) => other.score - one.score).map(({ location }) => location)
  }
}

// The sections of a site. Its worker knows their form.
function sectionsOf(site) {
  const folder = join(site, "assets/javascripts/workers")
  const [file] = readdirSync(folder).filter(name => /^search\..*\.js$/.test(name))
  const context = vm.createContext({ addEventListener() {} })
  vm.runInContext(readFileSync(join(folder, file), "utf8"), context)
  return context.unpacked(JSON.parse(readFileSync(join(site, "search/sections.json"), "utf8")))
}

async function indexOf(site, language, packages) {
  const { createIndex } = await import(join(packages, "pagefind/lib/index.js"))
  const { index } = await createIndex({ forceLanguage: language })
  const titles = new Map()
  for (const { location, title, ...section } of sectionsOf(site)) {
    const page = location.split("#")[0]
    if (!titles.has(page)) titles.set(page, title)
    const fields = { ...section, heading: title, page: page === location ? "" : titles.get(page) }
    const parts = Object.entries(WEIGHTS).map(([field, weight]) => {
      const text = (fields[field] ?? "").replace(/&/g, "&amp;").replace(/</g, "&lt;")
      return `<p data-pagefind-weight="${weight}">${text}</p>`
    })
    const content = `<html lang="${language}"><body data-pagefind-body><h1>${title}</h1>${parts.join("")}</body></html>`
    await index.addHTMLFile({ url: `/${encodeURIComponent(location)}.html`, content })
  }
  const outputPath = mkdtempSync(join(tmpdir(), "pagefind-"))
  await index.writeFiles({ outputPath })
  return outputPath
}

async function askPagefind(site, language, packages) {
  const folder = await indexOf(site, language, packages)
  const html = { getAttribute: () => language, lang: language }
  Object.assign(globalThis, {
    window: globalThis,
    location: new URL("http://localhost/"),
    document: { querySelector: selector => (selector === "html" ? html : null), documentElement: html },
    fetch: async url => new Response(readFileSync(String(url).replace(/^(?:file|http):\/\/(?:localhost)?|\?.*$/g, ""))),
  })
  const pagefind = await import(join(folder, "pagefind.js"))
  await pagefind.options({ basePath: `${folder}/`, baseUrl: "/", noWorker: true })
  await pagefind.init(language)
  return async query => {
    // It wants every word; without those that say nothing it finds more.
    const { results } = await pagefind.search(query.slice(0, 1000).replace(STOP_WORDS, " "))
    const found = await Promise.all(results.slice(0, FIRST).map(result => result.data()))
    return found.map(({ url }) => decodeURIComponent(url.replace(/^\/|\.html$/g, "")))
  }
}

const [engine, site, packages] = process.argv.slice(2)
const { language, queries } = JSON.parse(readFileSync(0, "utf8"))
const ask = engine === "pagefind" ? await askPagefind(site, language, packages) : askWorker(site)
const answers = []
for (const query of queries) answers.push((await ask(query)).slice(0, FIRST))
process.stdout.write(JSON.stringify(answers), () => process.exit())
