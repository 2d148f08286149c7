// A list of choices closes when what it belongs to is scrolled. A control takes the focus as it opens its list, and the browser scrolls
// one that is half out of sight into it: that scroll is no reason to close the list at once. leaf/ui/page_head.py puts it into the page.

const CONTROLS = '[data-testid="stSelectbox"], [data-testid="stMultiSelect"]'
const SOON = 300

let pressed = null
let since = 0

const press = ({ target }) => {
  pressed = target instanceof Element ? target.closest(CONTROLS) : null
  since = performance.now()
}

const scrolled = (event) => {
  if (!pressed || performance.now() - since > SOON || !event.target.contains(pressed)) return
  event.stopImmediatePropagation()
  requestAnimationFrame(() => dispatchEvent(new Event("resize"))) // at which the list finds its place anew
}

for (const name of ["pointerdown", "pointerup", "click"]) addEventListener(name, press, true)
addEventListener("scroll", scrolled, true) // the first to hear of it: Streamlit's scripts begin later
