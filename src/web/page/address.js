// The address: #KEY/VIEW/ID. What stands behind the # is never sent by itself, not to this server and to no other.

const parts = () => location.hash.slice(1).split("/");

// The key that `aizo web` wants to see with each question.
export const key = () => parts()[0];

// A key in the place of the one that is there.
export const unlock = (key) => history.replaceState(null, "", `#${[key, ...route()].join("/")}`);

// Where the page is: the name of a view, and what is open in it.
export const route = () => parts().slice(1);

// The address of a view, or of an entry in it.
export const link = (...to) => `#${[key(), ...to].join("/")}`;
