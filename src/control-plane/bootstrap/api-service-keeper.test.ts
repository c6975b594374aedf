import { describe, expect, it } from "vitest";
import { createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import { createApiServiceKeeper } from "./api-service-keeper.ts";
import { ensureApiService } from "./bootstrap-cluster.ts";
import { API_SERVICE } from "./first-objects.ts";

const SLICES = "endpointslices.discovery.k8s.io";
const ENDPOINT = { serviceAddress: "10.96.0.1", address: "192.0.2.1", port: 6443 };

describe("the service of the API server", () => {
  const setUp = async () => {
    const bench = createControllerBench();
    await ensureApiService(bench.deps, ENDPOINT);
    bench.start(createApiServiceKeeper(bench.deps, ENDPOINT));
    await bench.clock.settle();
    return bench;
  };

  it.each(["services", "endpoints", SLICES])("comes back whole when somebody deletes its %s", async (resource) => {
    const bench = await setUp();
    const before = bench.reader.get({ resource, ...API_SERVICE });
    await bench.writer.remove({ resource, ...API_SERVICE });
    await bench.clock.settle();
    const after = bench.reader.get({ resource, ...API_SERVICE });
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect({ ...after, metadata: undefined }).toEqual({ ...before, metadata: undefined });
  });

  it("keeps what somebody wrote to it, and has its endpoints right", async () => {
    const bench = await setUp();
    const { reader, writer, clock } = bench;
    const service = reader.get({ resource: "services", ...API_SERVICE });
    if (service === undefined) throw new Error("there is no service");
    await writer.update("services", { ...service, spec: { clusterIP: "10.96.0.1", ports: [{ port: 8443 }] } });
    const slice = reader.get({ resource: SLICES, ...API_SERVICE });
    if (slice === undefined) throw new Error("there is no slice");
    await writer.update(SLICES, { ...slice, endpoints: [{ addresses: ["192.0.2.66"] }] });
    await clock.settle();
    expect(reader.get({ resource: "services", ...API_SERVICE })).toMatchObject({ spec: { ports: [{ port: 8443 }] } });
    expect(reader.get({ resource: SLICES, ...API_SERVICE })).toMatchObject({ endpoints: slice["endpoints"] });
  });

  it("leaves others of its name alone", async () => {
    const bench = await setUp();
    await bench.create("services", {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "kubernetes", namespace: "a" },
    });
    await bench.writer.remove({ resource: "services", name: "kubernetes", namespace: "a" });
    await bench.clock.settle();
    expect(bench.reader.list("services")).toHaveLength(1);
  });
});
