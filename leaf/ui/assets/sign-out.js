// Asks for the sign-out by POST and goes where the answer says: to the login provider, or to the front page.
const form = document.querySelector("form");

// What this tab and the others keep of chats (reading.js, lost.js, draft.js) is not for whoever signs in next.
function forget() {
  new BroadcastChannel("leaf-signed-out").postMessage(""); // to the others, where draft.js listens
  for (const name of Object.keys(sessionStorage)) if (/^leaf-(draft|kept|read)-/.test(name)) sessionStorage.removeItem(name);
}

async function signOut() {
  try {
    forget();
  } catch {} // this browser keeps nothing
  const answer = await fetch(location.pathname, { method: "POST" });
  location.replace(answer.headers.get("x-leaf-location") || "../");
}

form.addEventListener("submit", event => {
  event.preventDefault();
  signOut();
});
if ("now" in form.dataset) signOut();
