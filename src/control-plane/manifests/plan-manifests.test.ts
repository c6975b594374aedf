import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { type ManifestRecord, referenceTo } from "./manifest-record.ts";
import { type FileObjects, planManifests } from "./plan-manifests.ts";

const object = (kind: string, name: string, apiVersion = "v1", namespace?: string): KubeObject => {
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
};
const file = (name: string, ...objects: KubeObject[]): FileObjects => ({ file: name, objects });
const record = (name: string, ...objects: KubeObject[]): ManifestRecord => {
  return { file: name, references: objects.map(referenceTo), status: "Applied", message: "" };
};
const resolve = (_apiVersion: string, kind: string) => {
  return kind === "Unserved" ? undefined : { resource: kind, namespaced: kind !== "Namespace" };
};
const plan = (files: readonly FileObjects[], records: readonly ManifestRecord[] = []) => {
  const { wanted, unwanted, ...rest } = planManifests(files, records, resolve);
  return {
    ...rest,
    wanted: wanted.map((one) => `${one.object.kind} ${one.object.metadata.name}`),
    unwanted: unwanted.map((one) => `${one.reference.kind} ${one.reference.name}`),
  };
};

test("what others need comes first, across files, and what decides about others last; deletions the other way round", () => {
  const objects = [
    object("ValidatingWebhookConfiguration", "guard", "admissionregistration.k8s.io/v1"),
    object("CronTab", "tab", "example.com/v1"),
    object("ConfigMap", "settings"),
    object("ClusterRoleBinding", "binding", "rbac.authorization.k8s.io/v1"),
    object("ClusterRole", "role", "rbac.authorization.k8s.io/v1"),
    object("CustomResourceDefinition", "crontabs.example.com", "apiextensions.k8s.io/v1"),
    object("Namespace", "team"),
  ];
  const order = [
    "Namespace team",
    "CustomResourceDefinition crontabs.example.com",
    "ConfigMap settings",
    "ClusterRole role",
    "ClusterRoleBinding binding",
    "CronTab tab",
    "ValidatingWebhookConfiguration guard",
  ];
  expect(plan(objects.map((one, index) => file(`${index}.yaml`, one))).wanted).toEqual(order);
  expect(plan([], [record("a.yaml", ...objects)]).unwanted).toEqual(order.toReversed());
});

describe("an object counts as the same", () => {
  test.each([
    [
      "in another version of its group",
      object("CronTab", "a", "example.com/v1beta1"),
      object("CronTab", "a", "example.com/v1"),
    ],
    ["with the default namespace written out", object("ConfigMap", "a"), object("ConfigMap", "a", "v1", "default")],
    ["in a namespace where its kind has none", object("Namespace", "a"), object("Namespace", "a", "v1", "default")],
    ["of a kind that is not served", object("Unserved", "a"), object("Unserved", "a", "v1", "default")],
  ])("%s", (_what, before, now) => {
    expect(plan([file("a.yaml", now)], [record("a.yaml", before)]).unwanted).toEqual([]);
    const { clashes } = plan([file("a.yaml", before), file("b.yaml", now)]);
    expect([...clashes.keys()]).toEqual(["b.yaml"]);
  });
});

describe("a file that cannot be read", () => {
  const bad = (name: string): FileObjects => ({ ...file(name), problem: "torn" });
  const kept = object("ConfigMap", "kept");

  test("keeps what it gave, and holds up deletions, because what is missing elsewhere may be in it", () => {
    const records = [record("a.yaml", kept), record("b.yaml", object("ConfigMap", "moved"))];
    expect(plan([bad("a.yaml")], records)).toMatchObject({ unwanted: ["ConfigMap moved"], heldBy: "a.yaml" });
  });

  test("holds up nothing when it is no manifest by its name", () => {
    expect(plan([bad("notes.md")], [record("b.yaml", kept)])).toMatchObject({ heldBy: undefined });
  });
});
