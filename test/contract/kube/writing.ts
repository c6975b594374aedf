import { describe, expect, it } from "vitest";
import { CONFIG_MAPS, LEASES, NODES, PODS, SERVICE_ACCOUNTS, TOKEN_REQUESTS } from "../../../src/api/kube-resource.ts";
import type { Clients } from "./client-under-test.ts";
import { configMap, createConfigMap, lease, namespace, newName, node, pod } from "./objects.ts";

/** `create`, `replace`, `patch`, `delete`, `createBeneath`. */
export function describeWriting(clients: Clients): void {
  describeCreate(clients);
  describeChange(clients);
  describeDelete(clients);
  describeBeneath(clients);
}

function describeCreate({ admin, stranger }: Clients): void {
  describe("create", () => {
    it("gives what was made, noting who made it", async () => {
      const name = newName("made");
      const made = await admin().create(CONFIG_MAPS, configMap(name, { a: "1" }), { fieldManager: "a-manager" });
      expect(made).toMatchObject({ kind: "ConfigMap", metadata: { name, uid: expect.any(String) }, data: { a: "1" } });
      expect(made.metadata?.managedFields?.[0]?.manager).toBe("a-manager");
    });

    it("takes a server's name for one that has only a prefix", async () => {
      const made = await admin().create(CONFIG_MAPS, { metadata: { namespace, generateName: "generated-" } });
      expect(made.metadata?.name).toMatch(/^generated-.+/);
    });

    it("rejects with AlreadyExists, Invalid and Forbidden", async () => {
      const name = newName("twice");
      await createConfigMap(admin(), name);
      await expect(createConfigMap(admin(), name)).rejects.toMatchObject({ reason: "AlreadyExists", code: 409 });
      await expect(createConfigMap(admin(), "Not A Name")).rejects.toMatchObject({
        reason: "Invalid",
        details: { causes: [{ field: "metadata.name" }] },
      });
      await expect(createConfigMap(stranger(), name)).rejects.toMatchObject({ reason: "Forbidden" });
    });
  });
}

function describeChange({ admin }: Clients): void {
  describe("replace", () => {
    it("replaces, and rejects with Conflict what is of an older version", async () => {
      const name = newName("lease");
      const first = await admin().create(LEASES, lease(name));
      const second = await admin().replace(LEASES, { ...first, spec: { ...first.spec, holderIdentity: "b" } });
      expect(second.spec?.holderIdentity).toBe("b");
      await expect(admin().replace(LEASES, first)).rejects.toMatchObject({ reason: "Conflict", code: 409 });
    });

    it("replaces a subresource alone", async () => {
      const { spec, ...made } = await admin().create(PODS, pod(newName("status")));
      const containers = spec?.containers ?? [];
      const changed = { ...made, spec: { ...spec, containers, activeDeadlineSeconds: 7 }, status: { reason: "Told" } };
      const replaced = await admin().replace(PODS, changed, { subresource: "status" });
      expect(replaced.status?.reason).toBe("Told");
      expect(replaced.spec?.activeDeadlineSeconds).toBeUndefined();
    });
  });

  describe("patch", () => {
    it("merges lists by their keys in a strategic patch, of the status too", async () => {
      const name = newName("patched");
      await admin().create(NODES, node(name));
      const patchWith = async (type: string) => {
        const body = { status: { conditions: [{ type, status: "True" }] } };
        const patch = { type: "strategic", body } as const;
        return await admin().patch(NODES, { namespace: "", name }, patch, { subresource: "status" });
      };
      await patchWith("Ready");
      const patched = await patchWith("DiskPressure");
      expect(patched.status?.conditions?.map(({ type }) => type).sort()).toEqual(["DiskPressure", "Ready"]);
    });

    it("merges in a merge patch, and follows the steps of a JSON patch", async () => {
      const name = { namespace, name: newName("patched") };
      await createConfigMap(admin(), name.name, { a: "1", b: "2" });
      const merged = await admin().patch(CONFIG_MAPS, name, { type: "merge", body: { data: { a: null, c: "3" } } });
      expect(merged.data).toEqual({ b: "2", c: "3" });
      const steps = [{ op: "replace", path: "/data/b", value: "4" }];
      const stepped = await admin().patch(CONFIG_MAPS, name, { type: "json", body: steps });
      expect(stepped.data).toEqual({ b: "4", c: "3" });
    });

    it("rejects with Conflict for another version, with Invalid for another object, with NotFound for none", async () => {
      const name = { namespace, name: newName("patched") };
      await createConfigMap(admin(), name.name);
      for (const [metadata, reason] of [
        [{ resourceVersion: "1" }, "Conflict"],
        [{ uid: "another" }, "Invalid"],
      ] as const) {
        const patch = admin().patch(CONFIG_MAPS, name, { type: "merge", body: { metadata, data: { a: "1" } } });
        await expect(patch).rejects.toMatchObject({ reason });
      }
      const patch = admin().patch(PODS, { namespace, name: "nobody" }, { type: "merge", body: {} });
      await expect(patch).rejects.toMatchObject({ reason: "NotFound" });
    });
  });
}

function describeDelete({ admin, stranger }: Clients): void {
  describe("delete", () => {
    it("deletes, and rejects with NotFound the second time", async () => {
      const name = { namespace, name: newName("deleted") };
      await createConfigMap(admin(), name.name);
      await admin().delete(CONFIG_MAPS, name);
      await expect(admin().get(CONFIG_MAPS, name)).rejects.toMatchObject({ reason: "NotFound" });
      await expect(admin().delete(CONFIG_MAPS, name)).rejects.toMatchObject({ reason: "NotFound" });
    });

    it("deletes the object of that UID and no other", async () => {
      const name = { namespace, name: newName("deleted") };
      const { metadata } = await createConfigMap(admin(), name.name);
      const wrong = admin().delete(CONFIG_MAPS, name, { uid: "another" });
      await expect(wrong).rejects.toMatchObject({ reason: "Conflict" });
      await admin().delete(CONFIG_MAPS, name, { uid: metadata?.uid });
    });

    it("gives a pod its grace period, and none when it is to go at once", async () => {
      const name = { namespace, name: newName("graceful") };
      await admin().create(PODS, pod(name.name));
      await admin().delete(PODS, name, { gracePeriodSeconds: 17 });
      const { metadata } = await admin().get(PODS, name);
      expect(metadata).toMatchObject({ deletionGracePeriodSeconds: 17, deletionTimestamp: expect.any(String) });
      await admin().delete(PODS, name, { gracePeriodSeconds: 0 });
      await expect(admin().get(PODS, name)).rejects.toMatchObject({ reason: "NotFound" });
    });

    it("rejects with Forbidden for somebody who may not", async () => {
      await expect(stranger().delete(PODS, { namespace, name: "a" })).rejects.toMatchObject({ reason: "Forbidden" });
    });
  });
}

function describeBeneath({ admin }: Clients): void {
  describe("createBeneath", () => {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences: [] } };
    const child = { subresource: "token", resource: TOKEN_REQUESTS, body };

    it("asks for a token of a service account", async () => {
      const name = newName("account");
      await admin().create(SERVICE_ACCOUNTS, { metadata: { name, namespace } });
      const spec = { audiences: [], expirationSeconds: 3_600 };
      const answer = await admin().createBeneath(
        SERVICE_ACCOUNTS,
        { namespace, name },
        { ...child, body: { ...body, spec } },
      );
      expect(answer).toMatchObject({ kind: "TokenRequest", status: { token: expect.stringContaining(".") } });
    });

    it("rejects with NotFound where there is no parent", async () => {
      const answer = admin().createBeneath(SERVICE_ACCOUNTS, { namespace, name: "nobody" }, child);
      await expect(answer).rejects.toMatchObject({ reason: "NotFound" });
    });
  });
}
