import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type KubeObject, typed } from "../../../src/api/object.ts";
import { silentLog } from "../../../src/base/log.ts";
import { serveControlPlane } from "../../../src/cluster/control-plane/serve-control-plane.ts";
import { createMemoryJournal } from "../../../src/journal/memory-journal.ts";
import { createCertificates } from "../../../src/testing/cluster-credentials.ts";
import { type ApiClient, createApiClient } from "./client.ts";

import { credentialsOf } from "./credentials-of.ts";

const SOON = { timeout: 60_000, interval: 50 };
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const TABS = "/apis/stable.example.com/v1/namespaces/team/crontabs";

const configMap = (name: string, data: object = {}, namespace?: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...(namespace !== undefined && { namespace }) },
  data,
});
const NAMESPACE = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } };
const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "crontabs.stable.example.com" },
  spec: {
    group: "stable.example.com",
    names: { kind: "CronTab", plural: "crontabs" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
const tab = (name: string) => ({
  apiVersion: "stable.example.com/v1",
  kind: "CronTab",
  metadata: { name, namespace: "team" },
  spec: { image: name },
});

describe("the manifests directory of a control plane", () => {
  let directory: string;
  let api: ApiClient;
  let restart: () => Promise<void>;
  let stop: () => Promise<void>;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-manifests-"));
    const certificates = await createCertificates();
    const journal = createMemoryJournal();
    const start = async () => {
      const options = { address: "127.0.0.1", port: 0, serviceCidr: "10.96.0.0/16", version: "test" };
      const manifests = { path: directory, refusesForeign: false };
      const served = await serveControlPlane(options, { journal, certificates, manifests, log: silentLog });
      await served.ready;
      api = createApiClient(credentialsOf(served.kubeconfig));
      stop = async () => {
        api.close();
        await served.close();
      };
    };
    await start();
    restart = async () => {
      await stop();
      await start();
    };
  });
  afterEach(async () => {
    await stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** Writes beside the directory's names first, as a careful editor does. */
  const put = async (file: string, ...objects: object[]) => {
    await writeFile(join(directory, `.${file}`), objects.map((object) => JSON.stringify(object)).join("\n---\n"));
    await rename(join(directory, `.${file}`), join(directory, file));
  };
  const drop = async (file: string) => await rm(join(directory, file));
  const statusOf = async (path: string) => (await api.json("GET", path)).status;
  const untilThere = async (path: string) => await expect.poll(async () => await statusOf(path), SOON).toBe(200);
  const untilGone = async (path: string) => await expect.poll(async () => await statusOf(path), SOON).toBe(404);
  const records = async () => {
    const { items } = await api.list("/api/v1/namespaces/kube-system/configmaps", {
      labelSelector: "nodelet/manifest-record=true",
    });
    return Object.fromEntries(
      items.map((object: KubeObject) => {
        const { data = {} } = typed("ConfigMap", object);
        return [data["file"], `${data["status"]}: ${data["message"]}`];
      }),
    );
  };
  const untilRecorded = async (expected: object) => await expect.poll(records, SOON).toEqual(expected);

  it("applies what depends on each other in one go, from any files, and deletes it with the files", async () => {
    await put("a.yaml", tab("one"), configMap("settings", { a: "1" }, "team"));
    await put("b.yaml", DEFINITION, NAMESPACE);
    await untilRecorded({ "a.yaml": "Applied: ", "b.yaml": "Applied: " });
    expect(await api.object("GET", `${TABS}/one`)).toMatchObject({
      metadata: { annotations: { "nodelet/manifest-file": "a.yaml" } },
      spec: { image: "one" },
    });
    await drop("a.yaml");
    await drop("b.yaml");
    await untilGone("/api/v1/namespaces/team");
    await untilGone("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crontabs.stable.example.com");
    await untilRecorded({});
  });

  it("changes what changed, gives up fields and objects that are left out, and keeps what others wrote", async () => {
    await put("a.yaml", configMap("one", { kept: "1", dropped: "1" }), configMap("two"));
    await untilRecorded({ "a.yaml": "Applied: " });
    await api.patch("merge", `${CONFIG_MAPS}/one`, { data: { theirs: "x" } });
    await put("a.yaml", configMap("one", { kept: "2" }));
    await untilGone(`${CONFIG_MAPS}/two`);
    expect(await api.object("GET", `${CONFIG_MAPS}/one`)).toMatchObject({ data: { kept: "2", theirs: "x" } });
    expect(typed("ConfigMap", await api.object("GET", `${CONFIG_MAPS}/one`)).data).not.toHaveProperty("dropped");
  });

  it("deletes after a restart what was deleted meanwhile, and nothing that somebody made anew", async () => {
    await put("a.yaml", configMap("one"), configMap("two"));
    await untilRecorded({ "a.yaml": "Applied: " });
    await api.object("DELETE", `${CONFIG_MAPS}/two`);
    await api.object("POST", CONFIG_MAPS, configMap("two", { made: "by hand" }));
    await stop();
    await drop("a.yaml");
    await restart();
    await untilGone(`${CONFIG_MAPS}/one`);
    await untilRecorded({});
    expect(await api.object("GET", `${CONFIG_MAPS}/two`)).toMatchObject({ data: { made: "by hand" } });
  });

  it("deletes nothing for a torn, empty or unreadable file, and says what is wrong with it", async () => {
    await put("a.yaml", configMap("one"));
    await put("b.yaml", configMap("two"));
    await untilRecorded({ "a.yaml": "Applied: ", "b.yaml": "Applied: " });
    await writeFile(join(directory, "a.yaml"), 'apiVersion: v1\nkind: "Conf');
    await untilRecorded({ "a.yaml": expect.stringMatching(/^Failed: document 1: line/), "b.yaml": "Applied: " });
    await writeFile(join(directory, "a.yaml"), "");
    await untilRecorded({ "a.yaml": "Failed: it holds no object", "b.yaml": "Applied: " });
    await drop("b.yaml");
    const held = "Failed: ConfigMap two is kept until a.yaml can be read, because it may be in there";
    await untilRecorded({ "a.yaml": "Failed: it holds no object", "b.yaml": held });
    expect(await statusOf(`${CONFIG_MAPS}/one`)).toBe(200);
    await put("a.yaml", configMap("two"));
    await untilGone(`${CONFIG_MAPS}/one`);
    await untilRecorded({ "a.yaml": "Applied: " });
    expect(await statusOf(`${CONFIG_MAPS}/two`)).toBe(200);
  });

  it("keeps a namespace with objects from elsewhere, of kinds that came later too, until they are gone", async () => {
    await put("a.yaml", NAMESPACE, configMap("settings", {}, "team"));
    await untilThere("/api/v1/namespaces/team/configmaps/settings");
    await api.object("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION);
    await expect.poll(async () => (await api.json("POST", TABS, tab("theirs"))).status, SOON).toBe(201);
    await drop("a.yaml");
    await untilGone("/api/v1/namespaces/team/configmaps/settings");
    const kept =
      "Failed: Namespace team is kept, because it holds what came from elsewhere: crontabs.stable.example.com theirs";
    await untilRecorded({ "a.yaml": kept });
    await restart();
    await untilRecorded({ "a.yaml": kept });
    expect(await statusOf(`${TABS}/theirs`)).toBe(200);
    await api.object("DELETE", `${TABS}/theirs`);
    await untilGone("/api/v1/namespaces/team");
    await untilRecorded({});
  });

  it("keeps a definition with custom resources from elsewhere", async () => {
    await put("a.yaml", DEFINITION, NAMESPACE, tab("ours"));
    await untilThere(`${TABS}/ours`);
    await api.object("POST", TABS, tab("theirs"));
    await drop("a.yaml");
    await untilGone(`${TABS}/ours`);
    await untilRecorded({ "a.yaml": expect.stringMatching(/CustomResourceDefinition .* is kept.*crontabs.* theirs/) });
    expect(await statusOf(`${TABS}/theirs`)).toBe(200);
  });

  it("applies the rest of a file of which one object is refused, and names that with its field", async () => {
    const bad = { ...configMap("bad"), dat: {} };
    await put("a.yaml", bad, configMap("good"), { ...configMap("x"), kind: "Unknown", apiVersion: "example.com/v1" });
    await untilThere(`${CONFIG_MAPS}/good`);
    await untilRecorded({
      "a.yaml": expect.stringMatching(
        /^Failed: ConfigMap bad: .*\.dat: field not declared.*; Unknown x: the API server does not serve/,
      ),
    });
    const events = async () => {
      const { items } = await api.list("/api/v1/namespaces/kube-system/events");
      return items.filter(({ reason }) => reason === "ManifestFailed").length;
    };
    await expect.poll(events, SOON).toBeGreaterThan(0);
  });

  it("moves an object from file to file without deleting it, and tells of two files with the same one", async () => {
    await put("a.yaml", configMap("one"));
    await untilRecorded({ "a.yaml": "Applied: " });
    const { uid } = (await api.object("GET", `${CONFIG_MAPS}/one`)).metadata;
    await put("b.yaml", configMap("one"));
    await untilRecorded({ "a.yaml": "Applied: ", "b.yaml": "Failed: ConfigMap one is in a.yaml too" });
    await drop("a.yaml");
    await untilRecorded({ "b.yaml": "Applied: " });
    expect((await api.object("GET", `${CONFIG_MAPS}/one`)).metadata).toMatchObject({
      uid,
      annotations: { "nodelet/manifest-file": "b.yaml" },
    });
  });

  it("leaves pods to the node agent, and a namespace of every cluster alone", async () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers: [] } };
    await put("a.yaml", pod, { ...NAMESPACE, metadata: { name: "default", labels: { mine: "yes" } } });
    await untilRecorded({ "a.yaml": "Applied: " });
    expect((await api.list("/api/v1/namespaces/default/pods")).items).toEqual([]);
    await drop("a.yaml");
    await untilRecorded({});
    expect(await statusOf("/api/v1/namespaces/default")).toBe(200);
  });
});
