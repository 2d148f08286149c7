// Asks for the sign-out by POST and goes where the answer says: to the login provider, or to the front page.
const form = document.querySelector("form");

async function signOut() {
  const answer = await fetch(location.pathname, { method: "POST" });
  location.replace(answer.headers.get("x-leaf-location") || "../");
}

form.addEventListener("submit", event => {
  event.preventDefault();
  signOut();
});
if ("now" in form.dataset) signOut();
