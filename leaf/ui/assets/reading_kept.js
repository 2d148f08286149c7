// What reading.js keeps: the places of this tab's chats, and the room that steps leave which become one line.

// What is read in each chat of this tab, when that is not its end.
const READ = "leaf-read-"
const isHere = (chat) => new URLSearchParams(location.search).get("chat") === chat
const placeIn = (chat) => {
  try {
    return JSON.parse(sessionStorage.getItem(READ + chat))
  } catch {
    return null // this browser keeps nothing
  }
}
const putPlace = (chat, place) => {
  try {
    if (place) sessionStorage.setItem(READ + chat, JSON.stringify(place))
    else sessionStorage.removeItem(READ + chat)
  } catch {}
}

const STEP = '[data-testid="stExpander"], .leaf-step, .leaf-thought'
const STEPS = '[class*="st-key-steps-"]'
const isStep = (piece) => piece.matches(STEP) || piece.querySelector(STEP)

const HELD = 80
const HEAD = 60

// Where the pieces of a growing answer stand in it, up to the first one behind its steps, and how each begins; of steps nothing.
const topsIn = (part, pieces) => {
  const end = pieces.findLastIndex(isStep) + 1
  const from = part.getBoundingClientRect().top
  const one = (piece) => (isStep(piece) ? null : { top: piece.getBoundingClientRect().top - from, head: piece.textContent.slice(0, HEAD) })
  return end < 2 ? null : pieces.slice(0, end + 1).map(one)
}

// Where few steps have become one line, what they leave stays empty while the page draws the whole answer, and is closed after that: nothing
// jumps. Of many it would be a long way, which is left to whoever keeps the place. While the page is still drawing, pieces stand at other numbers.
// The room that is held now.
const holdIn = (part, pieces, tops) => {
  const from = part.getBoundingClientRect().top
  let held = 0
  for (const [number, noted] of tops.entries()) {
    const one = noted && (pieces.find((piece) => noted.head && piece.textContent.startsWith(noted.head)) ?? pieces[number])
    if (!one?.offsetHeight || isStep(one)) continue
    const had = parseFloat(one.style.marginTop) || 0
    const wanted = Math.max(0, had + noted.top - (one.getBoundingClientRect().top - from))
    if (Math.abs(wanted - had) >= 1) one.style.marginTop = `${wanted}px`
    held += parseFloat(one.style.marginTop) || 0
  }
  return held
}

const heldIn = (place) => [...place.querySelectorAll('[class*="st-key-said-"] > [style*="margin-top"]')]

const letGoIn = (place) => {
  for (const one of heldIn(place)) one.style.marginTop = ""
}

const CLOSES = 300

// What is held glides shut; at once for whoever wants no motion.
const closeIn = (place) => {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches
  for (const one of heldIn(place)) {
    if (!still) one.animate([{ marginTop: one.style.marginTop }, { marginTop: "0px" }], { duration: CLOSES, easing: "ease-in-out" })
    one.style.marginTop = ""
  }
}
