// What surrounds the search of the theme: its field, the end of its results, and the page that a result opens.
const LONGEST_QUERY = 4000 // characters: longer pastes are cut before anything reads them

// The theme searches when a key is released. A paste by mouse or on a phone releases none.
document.addEventListener("input", ({ target }) => {
  if (!target.matches?.(".md-search__input")) return
  // Both ends stay: a traceback says at its end what went wrong.
  if (target.value.length > LONGEST_QUERY)
    target.value = `${target.value.slice(0, LONGEST_QUERY / 2)} ${target.value.slice(-LONGEST_QUERY / 2)}`
  target.dispatchEvent(new KeyboardEvent("keyup"))
}, true)

// Below the results, also below none: where to go if nothing fits.
const results = document.querySelector(".md-search-result")
if (results) {
  const chinese = document.documentElement.lang === "zh"
  const address = `${__md_scope.href}${chinese ? "zh/" : ""}start/check-setup/#ask`
  const [question, answer] = chinese
    ? ["没有合适的结果？", "带上环境报告来提问"]
    : ["Nothing fits?", "Ask, with a report of your setup"]
  results.insertAdjacentHTML("beforeend", `<p class="search-ask">${question} <a href="${address}">${answer}</a></p>`)
}

// `?q=` opens the search with a query. The theme does so when a site is opened, not when a link leads on.
document$.subscribe(() => {
  const query = new URL(location).searchParams.get("q")
  const field = document.querySelector(".md-search__input")
  if (!query || !field || field.value === query) return
  field.value = query
  field.focus()
  field.dispatchEvent(new KeyboardEvent("keyup"))
})

// The theme marks the words of `?h=` on the page that a result opens. Go to where most of them stand: in a long
// section, that is the variant of a message or the step that was asked for, also inside a fold.
document$.subscribe(() => {
  const asked = new URL(location).searchParams.get("h")?.toLowerCase().split(/\s+/).filter(Boolean)
  const heading = asked && document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!heading) return
  const hits = element => asked.filter(word => element.textContent.toLowerCase().includes(word)).length
  let best = heading, most = hits(heading)
  for (const element of belowHeading(heading))
    for (const part of [element, ...element.querySelectorAll("*")].filter(each => each.matches("p, li, tr, pre")))
      if (hits(part) > most) [best, most] = [part, hits(part)]
  for (let fold = best.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true
  // After the theme, which goes to the heading, or on a phone back to where the search was opened.
  setTimeout(() => best.scrollIntoView({ block: best === heading ? "start" : "center" }), 200)
})

// The elements of a section: up to the next heading.
function belowHeading(heading) {
  const found = []
  for (let next = heading.nextElementSibling; next && !/^H[1-6]$/.test(next.tagName); next = next.nextElementSibling)
    found.push(next)
  return found
}
