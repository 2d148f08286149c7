// Another page begins at its top. Streamlit leaves the place where the page before it was read, unless that happens to be gone before the
// next one is drawn; where somebody read in a chat is kept by reading.js. leaf/ui/page_head.py puts this into the page.

const push = history.pushState

history.pushState = function (...entry) {
  const before = location.pathname
  push.apply(this, entry)
  if (location.pathname !== before) document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0)
}
