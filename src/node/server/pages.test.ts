import { expect, it } from "vitest";
import { createFakeRequest } from "../../host/fake/fake-request.ts";
import { createPageEndpoints } from "./pages.ts";

it("serves a page at its path, and nothing beneath it", async () => {
  const endpoints = createPageEndpoints({
    statistics: { "/stats/summary": async () => ({ status: 200, body: "{}" }) },
  });
  const ask = async (path: string) => await endpoints["/stats/summary"]?.(createFakeRequest(path));
  expect(await ask("/stats/summary")).toMatchObject({ status: 200 });
  expect(await ask("/stats/summary/more")).toMatchObject({ status: 404 });
});
