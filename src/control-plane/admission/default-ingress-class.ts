import { type KubeObject, typed, untyped } from "../../api/object.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { refusal, writtenObject } from "./refusal.ts";

const IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class";
/** The older way to name a class. */
const CLASS_ANNOTATION = "kubernetes.io/ingress.class";

/** An Ingress that names no class gets the default class (`plugin/pkg/admission/network/defaultingressclass`). */
export function createDefaultIngressClass(reader: Pick<ResourceReader, "list">): AdmissionPlugin {
  return {
    name: "DefaultIngressClass",
    mutate(request) {
      const object = writtenObject(request, "ingresses.networking.k8s.io", ["CREATE"]);
      if (object === undefined || namesClass(object)) return undefined;
      const { spec, ...ingress } = typed("Ingress", object);
      const name = defaultClass(reader, request);
      return name === undefined ? undefined : untyped({ ...ingress, spec: { ...spec, ingressClassName: name } });
    },
  };
}

function namesClass(object: KubeObject): boolean {
  const annotations = object.metadata.annotations ?? {};
  return typed("Ingress", object).spec?.ingressClassName !== undefined || Object.hasOwn(annotations, CLASS_ANNOTATION);
}

/** The name of the one default class. Throws Forbidden when there are several: none of them is meant more than another. */
function defaultClass(reader: Pick<ResourceReader, "list">, request: AdmissionRequest): string | undefined {
  const classes = reader
    .list("ingressclasses.networking.k8s.io")
    .filter(({ metadata }) => metadata.annotations?.[IS_DEFAULT] === "true");
  if (classes.length <= 1) return classes[0]?.metadata.name;
  const problem = `Internal error occurred: ${classes.length} default IngressClasses were found, only 1 allowed`;
  throw refusal(request, problem);
}
