import { expect, it } from "vitest";
import { computeStateDirectory } from "./state-directory.ts";

it.each([
  ["root's", 0, { HOME: "/root", XDG_STATE_HOME: "/root/state" }, "/var/lib/nodelet"],
  ["a user's", 1000, { HOME: "/srv/ann" }, "/srv/ann/.local/state/nodelet"],
  ["that of a user with a place of their own", 1000, { HOME: "/srv/ann", XDG_STATE_HOME: "/x" }, "/x/nodelet"],
  ["not a relative one", 1000, { HOME: "/srv/ann", XDG_STATE_HOME: "x" }, "/srv/ann/.local/state/nodelet"],
  ["the machine's for a user without a home", 1000, {}, "/var/lib/nodelet"],
])("the state directory is %s", (_, userId, environment, expected) => {
  expect(computeStateDirectory(userId, environment)).toBe(expected);
});
