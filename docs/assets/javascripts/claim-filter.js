// "Claims, checked": shows the claims of a topic, of a verdict, and with the words that are typed. The address keeps
// the choice (?topic=memory&verdict=wrong&q=cache). Without this file all claims are shown. Runs after each page, as
// instant navigation replaces only the content.
(() => {
let goTo = () => {} // of the page that is open

function startClaimFilter() {
  goTo = () => {}
  const form = document.querySelector("[data-claim-filter]")
  if (!form) return
  const status = form.querySelector("[role=status]")
  const topics = new Map() // headings, with the claims below each
  let heading
  for (const part of document.querySelectorAll("h2[id], .claim"))
    if (part.localName === "h2") topics.set(heading = part, [])
    else topics.get(heading).push({ block: part, text: part.textContent.toLowerCase(), topic: heading.id })
  const claims = [...topics.values()].flat()
  const chosen = () => ({ q: form.q.value.trim(), topic: form.topic.value, verdict: form.verdict.value })

  function show() {
    const { q, topic, verdict } = chosen()
    const words = q.toLowerCase().split(/\s+/).filter(Boolean)
    const shown = claims.filter(claim => !(claim.block.hidden = !(
      (!topic || claim.topic === topic) && (!verdict || claim.block.dataset.verdict === verdict)
      && words.every(word => claim.text.includes(word)))))
    for (const [heading, below] of topics) heading.hidden = below.length > 0 && below.every(({ block }) => block.hidden)
    const all = shown.length === claims.length
    status.textContent = all ? "" : form.dataset.found.replace("{found}", shown.length)
    form.querySelector("button").hidden = all
  }

  function keep() {
    const kept = new URLSearchParams(Object.entries(chosen()).filter(([, value]) => value))
    history.replaceState(history.state, "", `${location.pathname}${kept.size ? `?${kept}` : ""}${location.hash}`)
  }

  // A link to a claim shows it, whatever was chosen before.
  goTo = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1))
    if (!target?.hidden) return
    form.reset()
    target.scrollIntoView()
  }

  form.addEventListener("input", show)
  form.addEventListener("change", keep)
  form.addEventListener("submit", event => event.preventDefault())
  form.addEventListener("reset", () => setTimeout(() => { show(); keep() })) // the fields are emptied after the event
  const asked = new URLSearchParams(location.search)
  for (const name of ["q", "topic", "verdict"]) if (asked.has(name)) form[name].value = asked.get(name)
  if (form.topic.selectedIndex < 0) form.topic.value = ""
  if (form.verdict.selectedIndex < 0) form.verdict.value = ""
  form.hidden = false
  show()
  goTo()
}

window.addEventListener("hashchange", () => goTo())
if (window.document$) document$.subscribe(startClaimFilter)
else document.addEventListener("DOMContentLoaded", startClaimFilter)
})()
