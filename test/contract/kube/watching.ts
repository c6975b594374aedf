import { describe, expect, it } from "vitest";
import { CONFIG_MAPS, SECRETS } from "../../../src/api/kube-resource.ts";
import { type Clients, type ServerTraits, startWatch } from "./client-under-test.ts";
import { configMap, createConfigMap, namespace, newName } from "./objects.ts";

/** `watch`. */
export function describeWatching(clients: Clients, { forgets }: Pick<ServerTraits, "forgets">): void {
  describe("watch", () => {
    describeEvents(clients);
    describeEnds(clients);
    describeForgetting(clients, forgets);
  });
}

function describeEvents({ admin }: Clients): void {
  it("tells of what happens after the revision, in order", async () => {
    const name = { namespace, name: newName("watched") };
    const before = await createConfigMap(admin(), name.name, { a: "1" });
    const { resourceVersion = "" } = before.metadata ?? {};
    await admin().patch(CONFIG_MAPS, name, { type: "merge", body: { data: { a: "ä€🙂" } } });
    const watching = startWatch(admin(), CONFIG_MAPS, {
      namespace,
      resourceVersion,
      fieldSelector: `metadata.name=${name.name}`,
    });
    const modified = await watching.nextChange();
    expect(modified).toMatchObject({ type: "MODIFIED", object: { kind: "ConfigMap", data: { a: "ä€🙂" } } });
    await admin().delete(CONFIG_MAPS, name);
    const deleted = await watching.nextChange();
    expect(deleted).toMatchObject({ type: "DELETED", object: { metadata: { name: name.name } } });
    await createConfigMap(admin(), name.name);
    const added = await watching.nextChange();
    expect(added.type).toBe("ADDED");
    const versions = [resourceVersion, modified.resourceVersion, deleted.resourceVersion, added.resourceVersion];
    expect(versions.map(Number)).toEqual(versions.map(Number).sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(4);
    watching.abort();
  });

  it("goes on from where a list ended, selected by label", async () => {
    const label = newName("label");
    const list = await admin().list(CONFIG_MAPS, { labelSelector: `watch=${label}` });
    const watching = startWatch(admin(), CONFIG_MAPS, {
      resourceVersion: list.resourceVersion,
      labelSelector: `watch=${label}`,
    });
    await createConfigMap(admin(), newName("other"));
    const name = newName("watched");
    await admin().create(CONFIG_MAPS, configMap(name, {}, { watch: label }));
    expect(await watching.nextChange()).toMatchObject({ type: "ADDED", object: { metadata: { name } } });
    watching.abort();
  });

  it("brings a bookmark before the server ends it in order", async () => {
    const { resourceVersion } = await admin().list(CONFIG_MAPS);
    const label = newName("label");
    // kube-apiserver sends it two seconds before the end, where something has happened since the watch began.
    const options = { resourceVersion, timeoutSeconds: 6, labelSelector: `watch=${label}` };
    const watching = startWatch(admin(), CONFIG_MAPS, options);
    await admin().create(CONFIG_MAPS, configMap(newName("begun"), {}, { watch: label }));
    await watching.next();
    await createConfigMap(admin(), newName("other"));
    const event = await watching.next();
    expect(event).toMatchObject({ type: "BOOKMARK", resourceVersion: expect.stringMatching(/^\d+$/) });
    expect(event).not.toHaveProperty("object");
    await watching.ended;
  });
}

function describeEnds({ admin, stranger }: Clients): void {
  it("rejects with AbortError when its signal fires", async () => {
    const { resourceVersion } = await admin().list(SECRETS);
    const watching = startWatch(admin(), SECRETS, { resourceVersion });
    // It has begun for certain once it has told of something.
    await admin().create(SECRETS, { metadata: { name: newName("begun"), namespace } });
    await watching.nextChange();
    watching.abort();
    await expect(watching.ended).rejects.toMatchObject({ name: "AbortError" });
  });

  it("tells nothing more once its signal has fired, although it may be there already", async () => {
    const { resourceVersion } = await admin().list(SECRETS);
    const set = newName("set");
    for (let index = 0; index < 3; index++) {
      const metadata = { name: `${set}-${index}`, namespace, labels: { set } };
      await admin().create(SECRETS, { metadata });
    }
    const controller = new AbortController();
    const seen: string[] = [];
    const options = { resourceVersion, timeoutSeconds: 60, signal: controller.signal, labelSelector: `set=${set}` };
    const watching = admin().watch(SECRETS, options, (event) => {
      if (event.type === "BOOKMARK") return;
      seen.push(event.object.metadata?.name ?? "");
      controller.abort();
    });
    await expect(watching).rejects.toMatchObject({ name: "AbortError" });
    expect(seen).toEqual([`${set}-0`]);
  });

  it("rejects with what the listener throws", async () => {
    const { resourceVersion } = await admin().list(CONFIG_MAPS);
    await createConfigMap(admin(), newName("thrown"));
    const watching = admin().watch(CONFIG_MAPS, { resourceVersion, timeoutSeconds: 60 }, (event) => {
      if (event.type !== "BOOKMARK") throw new RangeError("a bug of the listener");
    });
    await expect(watching).rejects.toThrow(RangeError);
  });

  it("rejects with Forbidden for somebody who may not", async () => {
    const watching = startWatch(stranger(), SECRETS, { resourceVersion: "1" });
    await expect(watching.ended).rejects.toMatchObject({ name: "ApiError", reason: "Forbidden" });
  });
}

function describeForgetting({ admin }: Clients, forgets: boolean): void {
  it.skipIf(!forgets)(
    "rejects with Expired or Gone for a revision that is not kept (kube-apiserver keeps all for minutes)",
    async () => {
      const { resourceVersion } = await admin().list(CONFIG_MAPS);
      const name = { namespace, name: newName("large") };
      await createConfigMap(admin(), name.name);
      for (let round = 0; round < 32; round++) {
        const body = { data: { text: String(round).padEnd(1_000_000) } };
        await admin().patch(CONFIG_MAPS, name, { type: "merge", body });
      }
      await admin().delete(CONFIG_MAPS, name);
      const watching = startWatch(admin(), CONFIG_MAPS, { resourceVersion });
      await expect(watching.ended).rejects.toMatchObject({
        name: "ApiError",
        reason: expect.stringMatching(/^(Expired|Gone)$/),
      });
    },
  );
}
