// Puts the parts together.
import { byId, h } from "./dom.js";
import { agreementPart, cardsPart, checksPart, classesPart, editsPart, findingsPart, foot, head, mapPart, meaningPart, numberPart, relationsPart, sizesPart, timePart } from "./sections.js";

const map = mapPart(), cards = cardsPart();
const parts = [findingsPart(), map.part || map, sizesPart(), timePart(), classesPart(), cards.part, relationsPart(), checksPart(), numberPart(), agreementPart(), editsPart(), meaningPart()].filter(Boolean);
byId("head").append(...head());
byId("main").append(...parts);
byId("foot").append(foot());
byId("ways").append(h("ul", {}, parts.map((part) => h("li", {}, h("a", { href: `#${part.id}` }, part.querySelector("h2").textContent)))));
if (map.start) map.start();
cards.open();
if (location.hash && !location.hash.startsWith("#topic-")) byId(location.hash.slice(1))?.scrollIntoView();
