import { describe, expect, it } from "vitest";
import { createFakeRequest } from "../../host/fake/fake-request.ts";
import { createFlagz } from "./flagz.ts";
import type { NodeEndpoint } from "./node-api.ts";
import { createStatusz } from "./statusz.ts";

const startedAt = Date.UTC(2026, 10, 2, 0, 22, 58);
const clock = { now: () => startedAt + ((26 * 60 + 3) * 60 + 7) * 1_000 + 999 };
const statusz = createStatusz(clock, {
  startedAt,
  version: "v1.36.2+nodelet.1.2.3",
  paths: ["/pods", "/configz", "/stats/summary", "/stats/x"],
});
const flagz = createFlagz({ v: "4", config: "" });

async function ask(endpoint: NodeEndpoint, path: string, accept = "") {
  const answer = await endpoint(createFakeRequest(path, accept === "" ? {} : { headers: { accept } }));
  if (!("body" in answer) || typeof answer.body !== "string") throw new Error("no page");
  return { ...answer, body: answer.body };
}

describe("the pages of the component itself", () => {
  it("say since when the node agent runs, and what it is", async () => {
    const page = await ask(statusz, "/statusz");
    expect(page.status).toBe(200);
    expect(page.body.split("\n").slice(4, -1)).toEqual([
      "Started:  Mon Nov  2 00:22:58 UTC 2026",
      "Up:  26 hr 03 min 07 sec",
      "Go version:  none",
      "Binary version:  1.36.2+nodelet.1.2.3",
      "Emulation version:  1.36",
      "Paths:  /configz /pods /stats",
    ]);
    expect(page.body).toMatch(/^\nkubelet statusz\nWarning: This endpoint is not meant to be machine parseable/);
  });

  it.each(["", "*/*", "text/plain", "application/json, text/*;q=0.5"])("are text for %j", async (accept) => {
    const { body } = await ask(flagz, "/flagz", accept);
    expect(body).toMatch(/^\nkubelet flagz\nWarning: .*\n\nconfig=\nv=4\n$/);
  });

  it("are objects for who names their kind", async () => {
    const status = await ask(statusz, "/statusz", "application/json;v=v1beta1;g=config.k8s.io;as=Statusz");
    expect(status.headers).toEqual({ "content-type": "application/json" });
    expect(JSON.parse(status.body)).toEqual({
      kind: "Statusz",
      apiVersion: "config.k8s.io/v1beta1",
      metadata: { name: "kubelet" },
      startTime: "2026-11-02T00:22:58Z",
      uptimeSeconds: 93_787,
      goVersion: "none",
      binaryVersion: "1.36.2+nodelet.1.2.3",
      emulationVersion: "1.36",
      paths: ["/configz", "/pods", "/stats"],
    });
    const flags = await ask(flagz, "/flagz", "application/json; as=Flagz; v=v1alpha1; g=config.k8s.io");
    expect(flags.headers).toMatchObject({ warning: expect.stringContaining("flagz endpoint is deprecated") });
    expect(JSON.parse(flags.body)).toMatchObject({
      apiVersion: "config.k8s.io/v1alpha1",
      flags: { v: "4", config: "" },
    });
  });

  it.each([
    "application/json",
    "application/json;v=v1beta1;g=config.k8s.io;as=Statusz",
    "application/json;v=v2;g=config.k8s.io;as=Flagz",
    "application/vnd.kubernetes.protobuf;v=v1beta1;g=config.k8s.io;as=Flagz",
    "text/plain;as=Flagz;v=v1beta1;g=config.k8s.io",
  ])("have no other form: %s", async (accept) => {
    const { status, body } = await ask(flagz, "/flagz", accept);
    expect(status).toBe(406);
    expect(body).toContain("only the following media types are accepted: text/plain, application/json;v=v1beta1");
  });

  it("have nothing below them", async () => {
    expect((await ask(flagz, "/flagz/x")).status).toBe(404);
  });
});
