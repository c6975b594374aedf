import { expect, it } from "vitest";
import { createPageEndpoints } from "./pages.ts";

it("serves a page at its path, and nothing beneath it", async () => {
  const endpoints = createPageEndpoints({
    statistics: { "/stats/summary": async () => ({ status: 200, body: "{}" }) },
  });
  const ask = async (path: string) => {
    const { signal } = new AbortController();
    const asked = { method: "GET", path, query: new URLSearchParams(), authorization: undefined, peer: undefined };
    const rest = { remoteAddress: "192.0.2.1", header: () => undefined, headers: () => ({}), isUpgrade: false };
    return await endpoints["/stats/summary"]?.({ ...asked, ...rest, signal });
  };
  expect(await ask("/stats/summary")).toMatchObject({ status: 200 });
  expect(await ask("/stats/summary/more")).toMatchObject({ status: 404 });
});
