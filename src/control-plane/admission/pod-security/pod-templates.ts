import type { Pod, PodTemplateSpec } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import type { SecuredPod } from "./secured-pod.ts";

const TEMPLATES: Readonly<Record<string, (object: KubeObject) => PodTemplateSpec | undefined>> = {
  podtemplates: (object) => typed("PodTemplate", object).template,
  replicationcontrollers: (object) => typed("ReplicationController", object).spec?.template,
  "replicasets.apps": (object) => typed("ReplicaSet", object).spec?.template,
  "deployments.apps": (object) => typed("Deployment", object).spec?.template,
  "statefulsets.apps": (object) => typed("StatefulSet", object).spec?.template,
  "daemonsets.apps": (object) => typed("DaemonSet", object).spec?.template,
  "jobs.batch": (object) => typed("Job", object).spec?.template,
  "cronjobs.batch": (object) => typed("CronJob", object).spec?.jobTemplate?.spec?.template,
};

/** The pods that will be made of the object; undefined for a resource without a template, or an object that has none. */
export function templatePodOf(resource: string, object: KubeObject): SecuredPod | undefined {
  const template = TEMPLATES[resource]?.(object);
  if (template?.spec === undefined) return undefined;
  return { annotations: template.metadata?.annotations ?? {}, spec: template.spec };
}

/** The pod as the standards see it. */
export function securedPodOf({ metadata, spec }: Pod): SecuredPod {
  return { annotations: metadata?.annotations ?? {}, spec: spec ?? { containers: [] } };
}
