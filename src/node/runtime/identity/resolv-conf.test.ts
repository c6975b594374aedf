import { expect, it } from "vitest";
import { parseResolvConf } from "./resolv-conf.ts";

it.each([
  { why: "an empty file", text: "", expected: { nameservers: [], searches: [], options: [] } },
  {
    why: "nameservers add up, comments and unknown lines are skipped",
    text: "# nameserver 192.0.2.9\nnameserver 192.0.2.1\n\n nameserver\t192.0.2.2 trailing\nsortlist x\nnameserver\n",
    expected: { nameservers: ["192.0.2.1", "192.0.2.2"], searches: [], options: [] },
  },
  {
    why: "the last search line wins; the root and trailing dots go",
    text: "search a.example\r\nsearch b.example. . c.example\r\n",
    expected: { nameservers: [], searches: ["b.example", "c.example"], options: [] },
  },
  {
    why: "options add up, the later wins in the earlier's place",
    text: "options ndots:1 rotate\noptions ndots:3 edns0",
    expected: { nameservers: [], searches: [], options: ["ndots:3", "rotate", "edns0"] },
  },
])("$why", ({ text, expected }) => {
  expect(parseResolvConf(text)).toEqual(expected);
});
