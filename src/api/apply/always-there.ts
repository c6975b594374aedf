import type { KubeObject } from "../object.ts";
import { type FieldSet, fieldSetOf } from "./field-set.ts";

const COMMON = ["metadata", "spec", "status"];
const podTemplate = (path: string) => {
  return [path, `${path}.metadata`, `${path}.spec`, `${path}.spec.containers`];
};

/**
 * Upstream's types are Go structs, so these parts of an object exist even in an empty one. A manager that fills them
 * does not add (and own) the part that holds them. Custom resources have no such parts: there the first manager that
 * writes `spec` owns it.
 */
const PATHS_BY_KIND: Readonly<Record<string, readonly string[]>> = {
  CronJob: [
    "spec.jobTemplate",
    "spec.jobTemplate.metadata",
    "spec.jobTemplate.spec",
    ...podTemplate("spec.jobTemplate.spec.template"),
  ],
  CustomResourceDefinition: ["spec.names", "status.acceptedNames"],
  DaemonSet: [...podTemplate("spec.template"), "spec.updateStrategy"],
  Deployment: [...podTemplate("spec.template"), "spec.strategy"],
  Ingress: ["status.loadBalancer"],
  Job: podTemplate("spec.template"),
  Node: ["status.daemonEndpoints", "status.daemonEndpoints.kubeletEndpoint", "status.nodeInfo"],
  PersistentVolumeClaim: ["spec.resources"],
  Pod: ["spec.containers"],
  PodTemplate: podTemplate("template"),
  ReplicaSet: podTemplate("spec.template"),
  Service: ["status.loadBalancer"],
  StatefulSet: [...podTemplate("spec.template"), "spec.updateStrategy"],
  VolumeAttachment: ["spec.source"],
};

const commonSet = fieldSetOf(COMMON);
const setsByKind = new Map(
  Object.entries(PATHS_BY_KIND).map(([kind, paths]) => [kind, fieldSetOf([...COMMON, ...paths])]),
);

/** The groups of upstream's own kinds that have a dot in their name. */
const BUILT_IN_GROUPS = new Set(
  [
    "admissionregistration",
    "apiextensions",
    "apiregistration",
    "authentication",
    "authorization",
    "certificates",
    "coordination",
    "discovery",
    "events",
    "flowcontrol.apiserver",
    "internal.apiserver",
    "networking",
    "node",
    "rbac.authorization",
    "resource",
    "scheduling",
    "storage",
    "storagemigration",
  ].map((name) => `${name}.k8s.io`),
);

const NONE: FieldSet = new Map();

/** Returns the paths that every object of the kind has, even if they are empty. */
export function alwaysThere({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">): FieldSet {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  if (group.includes(".") && !BUILT_IN_GROUPS.has(group)) return NONE;
  return setsByKind.get(kind) ?? commonSet;
}
