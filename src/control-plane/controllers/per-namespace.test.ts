import { describe, expect, test } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import { typed } from "../../api/object.ts";
import { configMap, createControllerBench, namespace } from "../control-loop/__fixtures__/run-controllers.ts";
import { createRootCaPublisher } from "./root-ca-publisher.ts";
import { createServiceAccountController } from "./service-accounts.ts";

const DEFAULT_ACCOUNT = { resource: "serviceaccounts", namespace: "a", name: "default" };
const ROOT_CA = { resource: "configmaps", namespace: "a", name: "kube-root-ca.crt" };

describe("the service account controller", () => {
  test("gives every namespace its default account, those of before too", async () => {
    const { create, start, deps, clock, reader } = createControllerBench();
    await create("namespaces", namespace("a"));
    start(createServiceAccountController(deps));
    await create("namespaces", namespace("b"));
    await clock.settle();
    expect(reader.list("serviceaccounts").map(({ metadata }) => metadata.namespace)).toEqual(["a", "b"]);
  });

  test("is done with it before a client can send its next request", async () => {
    const { create, start, deps, reader } = createControllerBench();
    start(createServiceAccountController(deps));
    await create("namespaces", namespace("a"));
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(reader.get(DEFAULT_ACCOUNT)).toBeDefined();
  });

  test("puts it back when it is deleted", async () => {
    const { create, start, deps, clock, reader, writer } = createControllerBench();
    start(createServiceAccountController(deps));
    await create("namespaces", namespace("a"));
    await clock.settle();
    const before = reader.get(DEFAULT_ACCOUNT);
    await writer.remove(DEFAULT_ACCOUNT);
    await clock.settle();
    expect(reader.get(DEFAULT_ACCOUNT)?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(reader.get(DEFAULT_ACCOUNT)).toBeDefined();
  });

  test("does not fight for a namespace that goes away", async () => {
    const bench = createControllerBench();
    bench.start(createServiceAccountController(bench.deps));
    await bench.create("namespaces", namespace("a"));
    await bench.clock.settle();
    await bench.writer.remove({ resource: "namespaces", namespace: "", name: "a" });
    await bench.writer.remove(DEFAULT_ACCOUNT);
    await bench.clock.advance(60_000);
    expect(bench.reader.get(DEFAULT_ACCOUNT)).toBeUndefined();
  });

  test("gives in when admission says that the namespace is terminating, and tries again after other refusals", async () => {
    const bench = createControllerBench();
    const causes = [{ reason: "NamespaceTerminating", message: "", field: "metadata.namespace" }];
    let attempts = 0;
    bench.refuse = ({ resource, object }) => {
      if (resource !== "serviceaccounts") return undefined;
      if (object.metadata.namespace === "going") return new ApiError("Forbidden", "terminating", { causes });
      return ++attempts < 3 ? new ApiError("ServiceUnavailable", "busy") : undefined;
    };
    bench.start(createServiceAccountController(bench.deps));
    await bench.create("namespaces", namespace("going"));
    await bench.clock.settle();
    expect(bench.clock.pendingTimers).toBe(0);
    await bench.create("namespaces", namespace("a"));
    await bench.clock.advance(1_000);
    expect(bench.names("serviceaccounts")).toEqual(["default"]);
  });
});

describe("the root CA publisher", () => {
  const setUp = async () => {
    const bench = createControllerBench();
    bench.start(createRootCaPublisher(bench.deps, { rootCa: "PEM" }));
    await bench.create("namespaces", namespace("a"));
    await bench.clock.settle();
    return bench;
  };

  test("publishes the certificate with upstream's explanation", async () => {
    const { reader } = await setUp();
    const published = reader.get(ROOT_CA);
    expect(published?.["data"]).toEqual({ "ca.crt": "PEM" });
    expect(published?.metadata.annotations?.["kubernetes.io/description"]).toMatch(/^Contains a CA bundle/);
  });

  test("puts right what was edited, keeping the annotations of others", async () => {
    const { reader, writer, clock } = await setUp();
    const annotations = { mine: "yes" };
    const edited = { ...configMap(ROOT_CA.name, { annotations }), data: { "ca.crt": "other", more: "x" } };
    await writer.update("configmaps", edited);
    await clock.settle();
    const repaired = typed("ConfigMap", reader.get(ROOT_CA) ?? edited);
    expect(repaired.data).toEqual({ "ca.crt": "PEM" });
    expect(repaired.metadata?.annotations).toMatchObject({
      mine: "yes",
      "kubernetes.io/description": expect.any(String),
    });
  });

  test("puts back what was deleted and leaves other config maps alone", async () => {
    const { reader, writer, clock, create, writes } = await setUp();
    await create("configmaps", configMap("mine"));
    await writer.remove(ROOT_CA);
    await clock.settle();
    expect(reader.get(ROOT_CA)?.["data"]).toEqual({ "ca.crt": "PEM" });
    expect(writes.filter((write) => write.includes("mine"))).toEqual(["create configmaps/mine"]);
  });

  test("does nothing when nothing is wrong", async () => {
    const { writes, clock, create } = await setUp();
    const before = writes.length;
    await create("namespaces", namespace("b"));
    await clock.advance(600_000);
    expect(writes.slice(before)).toEqual(["create namespaces/b", `create configmaps/${ROOT_CA.name}`]);
    expect(clock.pendingTimers).toBe(0);
  });
});
