import { expect, it } from "vitest";
import { computeClientContext } from "./tls-material.ts";

const MIN = { minVersion: "TLSv1.2" };

it.each([
  ["the authority that is given", { ca: "authority" }, true, { ca: "authority" }],
  ["those of the whole web without one", {}, true, {}],
  ["none where any server is believed", {}, false, { ca: [] }],
])("believes %s", (_what, pems, verifiesServer, wanted) => {
  const all = { ca: undefined, cert: undefined, key: undefined, ...pems };
  expect(computeClientContext(all, verifiesServer)).toEqual({ ...MIN, ...wanted });
});
