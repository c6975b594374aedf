import type { FieldError } from "../../../api/field-error.ts";
import type { Namespace } from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { checkDnsLabel, checkQualifiedName } from "../../../api/validation/names.ts";
import { invalid, invalidEach } from "../../../api/validation/problems.ts";
import { ALL_VERBS, defineKind } from "../define-kind.ts";
import { coreSubresource, statusSubresource } from "../subresource.ts";

/** The label with a namespace's name, by which selectors can name the namespace. */
const NAME_LABEL = "kubernetes.io/metadata.name";
/** Keeps a deleted namespace until its content is gone. The namespace controller removes it. */
const KUBERNETES_FINALIZER = "kubernetes";

/** Namespaces. They are deleted one by one: there is no deletecollection. */
export const namespaceKind = defineKind({
  kind: "Namespace",
  plural: "namespaces",
  shortNames: ["ns"],
  namespaced: false,
  verbs: ALL_VERBS.filter((verb) => verb !== "deletecollection"),
  strategy: {
    default: defaultNamespace,
    prepareCreate: prepareNamespace,
    prepareUpdate: keepFinalizers,
    validate: validateNamespace,
    checkName: checkDnsLabel,
    isHeld: (object) => finalizersOf(object).length > 0,
    markDeleted: markNamespaceDeleted,
    returnsDeleted: true,
    fields: {
      name: ({ metadata }) => metadata.name ?? "",
      "status.phase": (object) => typed("Namespace", object).status?.phase ?? "",
    },
  },
  subresources: [
    { ...coreSubresource("finalize", "Namespace", ["update"]), take: takeFinalizers },
    statusSubresource("Namespace", validateStatusUpdate),
  ],
});

const finalizersOf = (object: KubeObject) => typed("Namespace", object).spec?.finalizers ?? [];

function defaultNamespace(object: KubeObject): KubeObject {
  const namespace = typed("Namespace", object);
  const { name = "" } = object.metadata;
  const labels = { ...object.metadata.labels, ...(name !== "" && { [NAME_LABEL]: name }) };
  const status = { ...namespace.status, phase: namespace.status?.phase || "Active" };
  return untyped({ ...namespace, metadata: { ...object.metadata, labels }, status });
}

/**
 * Prepares a new namespace. Its label is set once more, because the name may have been generated after the defaults
 * were set.
 */
function prepareNamespace(object: KubeObject): KubeObject {
  const finalizers = finalizersOf(object);
  const isGuarded = finalizers.includes(KUBERNETES_FINALIZER);
  const spec = { finalizers: isGuarded ? finalizers : [...finalizers, KUBERNETES_FINALIZER] };
  return defaultNamespace(untyped({ ...typed("Namespace", object), spec, status: { phase: "Active" } }));
}

/**
 * Keeps the finalizers, which have a subresource of their own: a user who may label a namespace may not release its
 * content.
 */
function keepFinalizers(next: KubeObject, current: KubeObject): KubeObject {
  return withFinalizers(typed("Namespace", next), finalizersOf(current));
}

function takeFinalizers(next: KubeObject, current: KubeObject): KubeObject {
  const { status } = typed("Namespace", current);
  return withFinalizers({ ...typed("Namespace", next), ...(status && { status }) }, finalizersOf(next));
}

/**
 * The namespace with these finalizers. An empty list is left out, so that an object that is read and written back stays
 * the same.
 */
function withFinalizers(namespace: Namespace, finalizers: readonly string[]): KubeObject {
  return untyped({ ...namespace, spec: finalizers.length > 0 ? { finalizers: [...finalizers] } : {} });
}

function validateNamespace(object: KubeObject): FieldError[] {
  return finalizersOf(object).flatMap((name) => {
    const problems = invalidEach("spec.finalizers", name, checkQualifiedName(name));
    const isKnown = name.includes("/") || [KUBERNETES_FINALIZER, "orphan", "foregroundDeletion"].includes(name);
    const detail = "name is neither a standard finalizer name nor is it fully qualified";
    return isKnown ? problems : [...problems, invalid("spec.finalizers", name, detail)];
  });
}

function validateStatusUpdate(next: KubeObject): FieldError[] {
  const { status } = typed("Namespace", next);
  const isDeleted = next.metadata.deletionTimestamp !== undefined;
  const expected = isDeleted ? "Terminating" : "Active";
  if (status?.phase === expected) return [];
  const detail = `may only be '${expected}' if \`deletionTimestamp\` is ${isDeleted ? "not " : ""}empty`;
  return [invalid("status.Phase", status?.phase ?? "", detail)];
}

function markNamespaceDeleted(object: KubeObject): KubeObject {
  const namespace = typed("Namespace", object);
  const { deletionGracePeriodSeconds: _never, ...metadata } = namespace.metadata ?? {};
  return untyped({ ...namespace, metadata, status: { ...namespace.status, phase: "Terminating" } });
}
