import { expect, vi } from "vitest";
import type { ApiClient } from "./client.ts";
import { newNamespace } from "./objects.ts";

/** Where definitions are. */
export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const SPEC = {
  type: "object",
  required: ["schedule"],
  properties: {
    schedule: { type: "string", pattern: "^(\\d+|\\*)(/\\d+)?( (\\d+|\\*)(/\\d+)?){4}$" },
    replicas: { type: "integer", minimum: 0, maximum: 10, default: 1 },
    mode: { type: "string", enum: ["fast", "slow"] },
    extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    hosts: {
      type: "array",
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, port: { type: "integer" } },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
  },
};

const STATUS = {
  type: "object",
  properties: { replicas: { type: "integer" }, selector: { type: "string" }, phase: { type: "string" } },
};

const version = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: "object", properties: { spec: SPEC, status: STATUS } } },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  },
  additionalPrinterColumns: [
    { name: "Schedule", type: "string", jsonPath: ".spec.schedule" },
    { name: "Replicas", type: "integer", jsonPath: ".spec.replicas", priority: 1 },
  ],
});

/** A version as `versions` has it. */
export const CRON_TAB_VERSION = version("v1", true);

/** Each case has a group of its own: names are free there. */
export const cronTabDefinition = (group: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `crontabs.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "crontabs", singular: "crontab", kind: "CronTab", shortNames: ["ct"] },
    versions: [CRON_TAB_VERSION, version("v1beta1", false)],
  },
});

/** Defines the kind, and waits until it is served. Returns where its objects are. */
export async function defineCronTabs(
  client: ApiClient,
  group: string,
  definition: object = cronTabDefinition(group),
): Promise<string> {
  const created = await client.object("POST", DEFINITIONS, definition);
  const { name = "", resourceVersion = "" } = created.metadata;
  const watch = await client.watch(DEFINITIONS, { fieldSelector: `metadata.name=${name}`, resourceVersion });
  await watch.until(({ object }) =>
    /"type":"Established"[^}]*"status":"True"|"status":"True"[^}]*"type":"Established"/.test(JSON.stringify(object)),
  );
  watch.close();
  const namespace = await newNamespace(client);
  const path = `/apis/${group}/v1/namespaces/${namespace}/crontabs`;
  // A new kind is served a moment after it says so, and its list shortly after that.
  await untilAnswered(client, path, 200);
  return path;
}

export const untilAnswered = (client: ApiClient, path: string, status: number) => {
  return vi.waitFor(async () => expect(await client.json("GET", path)).toMatchObject({ status }), { timeout: 20_000 });
};

export const cronTab = (group: string, name: string, spec: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: "CronTab",
  metadata: { name },
  spec: { schedule: "* * * * */5", ...spec },
});
