import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { keepLastGood, readManifest } from "./read-manifest.ts";
import type { SourcePod } from "./source-snapshot.ts";
import type { StaticPodOrigin } from "./static-pod.ts";

const ORIGIN: StaticPodOrigin = { source: "file", location: "/manifests/web.yaml", nodeName: "node-1" };
const GOOD = "{apiVersion: v1, kind: Pod, metadata: {name: good}, spec: {containers: [{name: main, image: busybox}]}}";
const pod = (fields: string) => `{apiVersion: v1, kind: Pod, ${fields}}`;
const spec = (fields: string) => pod(`metadata: {name: bad}, spec: ${fields}`);

const read = (text: string) => readManifest(Buffer.from(text), ORIGIN);
const names = (text: string) => read(text).pods.map(({ pod }) => pod.metadata?.name);

describe("reading a manifest", () => {
  it("gives defaulted static pods with the place where each stands", () => {
    const { pods, errors, warnings } = read(`${GOOD}\n---\n${GOOD.replace("good", "also")}`);
    expect([errors, warnings]).toEqual([[], []]);
    expect(pods.map(({ pod, origin }) => [pod.metadata?.name, pod.spec?.nodeName, origin])).toEqual([
      ["good-node-1", "node-1", "/manifests/web.yaml, document 1"],
      ["also-node-1", "node-1", "/manifests/web.yaml, document 2"],
    ]);
    expect(pods[0]?.pod.spec).toMatchObject({ restartPolicy: "Always", terminationGracePeriodSeconds: 30 });
  });

  it("leaves objects of other kinds to others where it is told to", () => {
    const mixed = `${GOOD}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n`;
    expect(read(mixed).errors).toEqual([expect.stringContaining("document 2: expected a Pod")]);
    const { pods, errors, hasOthers } = readManifest(Buffer.from(mixed), ORIGIN, { ignoresOtherKinds: true });
    expect([pods.length, errors, hasOthers]).toEqual([1, [], true]);
  });

  it("says who takes config maps and secrets where it does not", () => {
    const [error] = read("{apiVersion: v1, kind: Secret, metadata: {name: s}}").errors;
    expect(error).toMatch(
      /got kind "Secret".*: config maps and secrets beside static pods are for a node without an API/,
    );
  });

  it.each(["yes", "TRUE", ""])("warns of the annotation %j, which asks for nothing", (value) => {
    const annotated = GOOD.replace("name: good", `name: good, annotations: {nodelet/restart-on-change: "${value}"}`);
    expect(read(annotated).warnings).toEqual([
      `document 1: metadata.annotations[nodelet/restart-on-change]: "${value}" asks for nothing: write "true" or "false"`,
    ]);
  });

  it("gives the same pod however it is written", () => {
    const yaml =
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: good\nspec:\n  containers:\n  - image: busybox\n    name: main\n";
    const json =
      '{"kind":"Pod","apiVersion":"v1","spec":{"containers":[{"name":"main","image":"busybox"}]},"metadata":{"name":"good"}}';
    expect(read(yaml).pods).toEqual(read(GOOD).pods);
    expect(read(json).pods).toEqual(read(GOOD).pods);
  });

  it.each<[string, string, RegExp]>([
    [
      "no name",
      pod("metadata: {}, spec: {containers: [{name: a, image: b}]}"),
      /^document 2: metadata\.name: Required value/,
    ],
    ["a name with a slash", GOOD.replace("good", '"../bad"'), /^document 2: metadata\.name: Invalid value/],
    [
      "a namespace with dots",
      pod('metadata: {name: a, namespace: ".."}, spec: {containers: [{name: a, image: b}]}'),
      /^document 2: metadata\.namespace: Invalid value/,
    ],
    [
      "a UID that is a path",
      pod('metadata: {name: a, uid: "../../x"}, spec: {containers: [{name: a, image: b}]}'),
      /^document 2: metadata\.uid: Invalid value/,
    ],
    ["no containers", spec("{containers: []}"), /^document 2: spec\.containers: Required value/],
    [
      "a field of the wrong type",
      spec("{containers: [{name: a, image: b, tty: maybe}]}"),
      /^document 2: .*spec\.containers\[0\]\.tty/,
    ],
    [
      "a reference to a secret",
      spec("{containers: [{name: a, image: b}], volumes: [{name: v, secret: {secretName: s}}]}"),
      /^document 2: spec\.volumes\[0\]\.secret: static pods may not reference secrets/,
    ],
    ["another kind", "{apiVersion: v1, kind: Service, metadata: {name: a}}", /^document 2: .*"Service"/],
    ["no YAML", "a: 'b", /^document 2: /],
  ])("refuses a document with %s, and takes the others", (_what, text, error) => {
    const content = read(`${GOOD}\n---\n${text}`);
    expect(content.pods.map(({ pod }) => pod.metadata?.name)).toEqual(["good-node-1"]);
    expect(content.errors).toHaveLength(1);
    expect(content.errors[0]).toMatch(error);
  });

  it("names the item of a list", () => {
    const content = read(`{apiVersion: v1, kind: PodList, items: [${GOOD}, ${spec("{containers: []}")}]}`);
    expect(content.pods).toHaveLength(1);
    expect(content.errors[0]).toMatch(/^document 1: items\[1\]\.spec\.containers: Required value/);
  });

  it("warns of unknown fields and takes the pod", () => {
    const content = read(GOOD.replace("kind: Pod", "kind: Pod, colour: blue"));
    expect(content.pods).toHaveLength(1);
    expect(content.warnings[0]).toMatch(/^document 1: .*colour/);
  });

  it("gives nothing for nothing", () => {
    expect(read("# nothing\n---\n")).toEqual({ pods: [], objects: [], errors: [], warnings: [], hasOthers: false });
    expect(names("{apiVersion: v1, kind: PodList, items: []}")).toEqual([]);
  });
});

describe("keeping the last good pods", () => {
  const entry = (name: string, uid = name, labels: Record<string, string> = {}): SourcePod => {
    const value: Pod = { metadata: { name, namespace: "default", uid, labels } };
    return { pod: value, origin: "file" };
  };
  it.each<[string, SourcePod[], string[], string[]]>([
    ["all new ones of a good manifest", [entry("b")], [], ["b"]],
    ["the old ones beside a refused document", [entry("b")], ["bad"], ["b", "a"]],
    ["the old ones of a broken manifest", [], ["bad"], ["a"]],
    ["none that a new one replaces by name", [entry("a", "new")], ["bad"], ["new"]],
    ["none that a new one replaces by UID", [entry("b", "a")], ["bad"], ["a"]],
  ])("keeps %s", (_what, pods, errors, expected) => {
    expect(keepLastGood([entry("a")], { pods, errors }).map(({ pod }) => pod.metadata?.uid)).toEqual(expected);
  });

  it("keeps the values of pods that did not change", () => {
    const before = entry("a");
    const [same, other] = [entry("a"), entry("a", "a", { changed: "yes" })];
    expect(keepLastGood([before], { pods: [same], errors: [] })[0]).toBe(before);
    expect(keepLastGood([before], { pods: [other], errors: [] })[0]).toBe(other);
  });
});
