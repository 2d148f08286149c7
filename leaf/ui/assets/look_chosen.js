// The look that was chosen in Settings (look.js), in Streamlit's own words and place, which is one for each path. Runs in the page's head,
// before Streamlit reads it. leaf/ui/page_head.py puts it there.

try {
  const chosen = localStorage.getItem("leaf-look")
  if (chosen) localStorage.setItem(`stActiveTheme-${location.pathname}-v2`, JSON.stringify(chosen))
} catch {} // this browser keeps nothing
