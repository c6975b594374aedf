import { describe, expect, it } from "vitest";
import { CONFIG_MAPS, NODES, PODS, SECRETS } from "../../../src/api/kube-resource.ts";
import type { Clients } from "./client-under-test.ts";
import { configMap, createConfigMap, createSecrets, namesOf, namespace, newName, node, pod } from "./objects.ts";

/** `get` and `list`. */
export function describeReading({ admin, stranger }: Clients): void {
  describe("get", () => {
    it("gives the object with its kind", async () => {
      const name = newName("read");
      await createConfigMap(admin(), name, { a: "ä€🙂" });
      const found = await admin().get(CONFIG_MAPS, { namespace, name });
      expect(found).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: "ä€🙂" } });
      expect(found.metadata?.uid).toBeTypeOf("string");
    });

    it("gives a cluster-wide object, and one from the server's cache", async () => {
      const name = newName("node");
      await admin().create(NODES, node(name));
      for (const options of [{}, { resourceVersion: "0" }]) {
        expect(await admin().get(NODES, { namespace: "", name }, options)).toMatchObject({ metadata: { name } });
      }
    });

    it("rejects with NotFound, saying what was not found", async () => {
      await expect(admin().get(PODS, { namespace, name: "nobody" })).rejects.toMatchObject({
        name: "ApiError",
        reason: "NotFound",
        code: 404,
        message: 'pods "nobody" not found',
        details: { name: "nobody", kind: "pods" },
      });
    });

    it("rejects with Forbidden for somebody who may not", async () => {
      await expect(stranger().get(SECRETS, { namespace, name: "a" })).rejects.toMatchObject({
        name: "ApiError",
        reason: "Forbidden",
        message: expect.stringContaining('secrets "a" is forbidden'),
      });
    });

    it("refuses to read a collection by mistake", async () => {
      await expect(admin().get(PODS, { namespace, name: "" })).rejects.toThrow("resource name may not be empty");
      await expect(admin().get(PODS, { namespace: "", name: "a" })).rejects.toThrow(/namespace/);
    });

    it("rejects with AbortError for a signal that has fired", async () => {
      const call = admin().get(PODS, { namespace, name: "a" }, { signal: AbortSignal.abort() });
      await expect(call).rejects.toMatchObject({ name: "AbortError" });
    });
  });

  describe("list", () => {
    it("selects by label, field and namespace", async () => {
      const [one, two] = [newName("listed"), newName("listed")];
      await admin().create(CONFIG_MAPS, configMap(one, {}, { list: "a" }));
      await admin().create(CONFIG_MAPS, configMap(two, {}, { list: "b" }));
      const byLabel = await admin().list(CONFIG_MAPS, { namespace, labelSelector: "list in (a, b)" });
      expect(namesOf(byLabel.items)).toEqual([one, two]);
      const byField = await admin().list(CONFIG_MAPS, { fieldSelector: `metadata.name=${two}` });
      expect(namesOf(byField.items)).toEqual([two]);
      expect((await admin().list(CONFIG_MAPS, { namespace: "kube-system", labelSelector: "list" })).items).toEqual([]);
    });

    it("selects the pods of a node, each with its kind", async () => {
      const name = newName("pod");
      await admin().create(PODS, pod(name));
      const { items } = await admin().list(PODS, { fieldSelector: "spec.nodeName=a-node" });
      expect(namesOf(items)).toContain(name);
      expect(items[0]).toMatchObject({ apiVersion: "v1", kind: "Pod" });
      await admin().delete(PODS, { namespace, name }, { gracePeriodSeconds: 0 });
    });

    it.each([[undefined], ["0"]])("gives all of more than a page, with resourceVersion %s", async (resourceVersion) => {
      const set = newName("pages");
      await createSecrets(admin(), 1_001, set);
      const read = async () => await admin().list(SECRETS, { namespace, labelSelector: `set=${set}`, resourceVersion });
      // The server's cache may be behind what was just written.
      await expect.poll(async () => (await read()).items.length, { timeout: 10_000 }).toBe(1_001);
      const list = await read();
      expect(new Set(namesOf(list.items)).size).toBe(1_001);
      expect(Number(list.resourceVersion)).toBeGreaterThan(0);
    });

    it("rejects with BadRequest for a selector that is none", async () => {
      const list = admin().list(PODS, { fieldSelector: "spec.nonsense=a" });
      await expect(list).rejects.toMatchObject({ reason: "BadRequest" });
    });
  });
}
