import type { Pod } from "../../../api/gen/types.ts";
import { type KubeResource, PODS } from "../../../api/kube-resource.ts";
import { isRecord } from "../../../api/object.ts";
import { messageOf } from "../../../base/errors.ts";

/** Reads the pods of this node, and goes on with the others where one is not as its type says. */
export interface PodReader {
  /**
   * Nothing is read of a malformed pod, nor of one of another node, which no server should send here, but where it is. The
   * malformed one has no revision, so that what comes later of it is always news. Throws a TypeError where not even its place
   * can be read.
   */
  readonly resource: KubeResource<Pod>;
  /** What is wrong with a pod that was read; undefined for one that is as its type says. */
  misfitOf(pod: Pod): string | undefined;
}

export function createPodReader(nodeName: string): PodReader {
  const misfits = new WeakMap<Pod, string>();
  return {
    misfitOf: (pod) => misfits.get(pod),
    resource: {
      ...PODS,
      read(value) {
        const known = readPod(value);
        if (!("misfit" in known)) return known.pod.spec?.nodeName === nodeName ? known.pod : toPlace(known.pod);
        const pod = readPlace(value, known.misfit);
        misfits.set(pod, known.misfit);
        return pod;
      },
    },
  };
}

function readPod(value: unknown): { readonly pod: Pod } | { readonly misfit: string } {
  try {
    return { pod: PODS.read(value) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { misfit: messageOf(error) };
  }
}

/** The place of a pod of another node, which may be in a list by the hundred thousand. */
function toPlace({ metadata, spec }: Pod): Pod {
  const { name = "", namespace = "", uid = "", resourceVersion = "" } = metadata ?? {};
  const { nodeName } = spec ?? {};
  const boundTo = nodeName === undefined ? {} : { nodeName: nodeName.slice(0, MAX_SHOWN_LENGTH) };
  const place = { metadata: { name, namespace, uid, resourceVersion } };
  return spec === undefined ? place : { ...place, spec: { ...boundTo, containers: [] } };
}

const MAX_SHOWN_LENGTH = 253;
/** As `PODS` has it. */
const MAX_NAME_LENGTH = 1_024;

function readPlace(value: unknown, misfit: string): Pod {
  const kind = isRecord(value) ? (value["kind"] ?? PODS.kind) : undefined;
  const metadata = isRecord(value) ? value["metadata"] : undefined;
  const [name, namespace, uid] = ["name", "namespace", "uid"].map((field) => {
    return isRecord(metadata) ? metadata[field] : undefined;
  });
  if (kind !== PODS.kind || !isName(name) || !isName(namespace) || !isName(uid)) throw new TypeError(misfit);
  return { metadata: { name, namespace, uid, resourceVersion: "" }, spec: { containers: [] } };
}

function isName(text: unknown): text is string {
  return typeof text === "string" && text !== "" && text.length <= MAX_NAME_LENGTH;
}
