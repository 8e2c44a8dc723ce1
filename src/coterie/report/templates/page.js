// Puts the parts together.
const map = mapPart(), cards = cardsPart();
const parts = [checksPart(), sizesPart(), map.part || map, cards.part, relationsPart(), timePart(), classesPart(), numberPart(), editsPart(), meaningPart()].filter(Boolean);
document.getElementById("head").append(...head());
document.getElementById("main").append(...parts);
document.getElementById("foot").append(foot());
document.getElementById("ways").append(h("ul", {}, parts.map((part) => h("li", {}, h("a", { href: `#${part.id}` }, part.querySelector("h2").textContent)))));
if (map.start) map.start();
cards.open();
if (location.hash && !location.hash.startsWith("#topic-")) document.getElementById(location.hash.slice(1))?.scrollIntoView();
