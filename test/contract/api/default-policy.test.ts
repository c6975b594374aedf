import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRecord, type KubeObject } from "../../../src/api/object.ts";
import { DEFAULT_POLICY } from "../../../src/control-plane/access/default-policy.ts";
import { type ApiClient, createApiClient } from "./client.ts";
import { startKubeApiserver } from "./kube-apiserver.ts";
import { NOT_CARRIED, POLICY_DIFFERENCES } from "./policy-differences.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const COLLECTIONS = {
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  Role: "roles",
  RoleBinding: "rolebindings",
};
/** The minor version whose policy ours is; earlier ones granted less, and more to some. */
const SAME_SINCE = 35;
const OLDER = `the policy is that of 1.${SAME_SINCE} and later`;
const assets = process.env["KUBEBUILDER_ASSETS"] ?? "";

const keyOf = ({ kind, metadata }: KubeObject) => [kind, metadata.namespace, metadata.name].filter(Boolean).join("/");
const textsIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** What a role allows, one verb on one thing each, in order. */
function grantsOf({ rules }: KubeObject): string[] {
  const list: unknown[] = Array.isArray(rules) ? rules : [];
  const grants = list.filter(isRecord).flatMap(({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }) => {
    const names = textsIn(resourceNames).length === 0 ? [""] : textsIn(resourceNames).map((name) => ` ${name}`);
    const groups = textsIn(apiGroups);
    const of = textsIn(resources).flatMap((resource) =>
      groups.map((group) => (group === "" ? resource : `${resource}.${group}`)),
    );
    const things = [...textsIn(nonResourceURLs), ...of.flatMap((thing) => names.map((name) => thing + name))];
    return textsIn(verbs).flatMap((verb) => things.map((thing) => `${verb} ${thing}`));
  });
  return [...new Set(grants)].sort();
}

function subjectsOf({ subjects, roleRef }: KubeObject): string[] {
  const list: unknown[] = Array.isArray(subjects) ? subjects : [];
  const role = isRecord(roleRef) ? `to ${roleRef["kind"]}/${roleRef["name"]}` : "";
  const named = list
    .filter(isRecord)
    .map(({ kind, namespace, name }) => [kind, namespace, name].filter(Boolean).join("/"));
  return [role, ...named].sort();
}

/** What an aggregated role allows, a controller writes, which a kube-apiserver alone does not have. */
function contentOf(object: KubeObject): string[] {
  if (object["aggregationRule"] !== undefined) return [`aggregates ${JSON.stringify(object["aggregationRule"])}`];
  return object.kind.endsWith("Binding") ? subjectsOf(object) : grantsOf(object);
}

/** `-` what the real server has and ours has not, `+` the other way round. */
function compare(ours: KubeObject, theirs: KubeObject): string[] {
  const [mine, real] = [contentOf(ours), contentOf(theirs)];
  const [inOurs, inTheirs] = [new Set(mine), new Set(real)];
  return [
    ...real.filter((entry) => !inOurs.has(entry)).map((entry) => `- ${entry}`),
    ...mine.filter((entry) => !inTheirs.has(entry)).map((entry) => `+ ${entry}`),
  ];
}

describe.skipIf(assets === "")("the default policy beside kube-apiserver's", () => {
  const theirs = new Map<string, KubeObject>();
  let admin: ApiClient | undefined;
  let stop = async () => {};
  let minor = 0;

  beforeAll(async () => {
    const server = await startKubeApiserver(assets);
    stop = server.stop;
    admin = createApiClient(server.admin);
    const { body } = await admin.json("GET", "/version");
    minor = Number(isRecord(body) ? body["minor"] : 0);
    for (const [kind, plural] of Object.entries(COLLECTIONS)) {
      const { items } = await admin.list(`${RBAC}/${plural}`);
      for (const item of items) theirs.set(keyOf({ ...item, kind }), { ...item, kind });
    }
  });
  afterAll(async () => {
    admin?.close();
    await stop();
  });

  it("has of each role and binding what is served here, and nothing else", ({ skip }) => {
    skip(minor < SAME_SINCE, OLDER);
    const differences = DEFAULT_POLICY.flatMap((ours) => {
      const key = keyOf(ours);
      const real = theirs.get(key);
      const entries = real === undefined ? ["+ all of it"] : compare(ours, real);
      return entries.length === 0 ? [] : [{ key, entries }];
    });
    const known = POLICY_DIFFERENCES.map(({ key, entries }) => ({ key, entries }));
    const byKey = (list: typeof known) => [...list].sort((a, b) => (a.key < b.key ? -1 : 1));
    expect(byKey(differences)).toEqual(byKey(known));
  });

  it("carries every role and binding of a cluster's beginning", ({ skip }) => {
    skip(minor < SAME_SINCE, OLDER);
    const ours = new Set(DEFAULT_POLICY.map(keyOf));
    const missing = [...theirs.keys()].filter((key) => !ours.has(key));
    expect(missing.filter((key) => !NOT_CARRIED.some((pattern) => pattern.test(key)))).toEqual([]);
  });

  it("labels and annotates them as it does", ({ skip }) => {
    skip(minor < SAME_SINCE, OLDER);
    const marks = ({ metadata: { labels, annotations } }: KubeObject) => ({ labels, annotations });
    for (const ours of DEFAULT_POLICY) {
      const real = theirs.get(keyOf(ours));
      if (real !== undefined) expect([keyOf(ours), marks(ours)]).toEqual([keyOf(ours), marks(real)]);
    }
  });
});
