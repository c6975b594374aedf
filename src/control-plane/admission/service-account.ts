import type { Container, Pod, PodSpec, ServiceAccount, Volume, VolumeMount } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { CONFIG_MIRROR_ANNOTATION } from "../../api/well-known.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { createDefaultAccountWait, type DefaultAccountDeps } from "./await-default-account.ts";
import { findForeignSecret } from "./mountable-secrets.ts";
import { referencesSecrets } from "./pod-references.ts";
import { refusal, writtenObject } from "./refusal.ts";

const DEFAULT_ACCOUNT = "default";
const ENFORCE_MOUNTABLE_SECRETS = "kubernetes.io/enforce-mountable-secrets";
const TOKEN_VOLUME_PREFIX = "kube-api-access-";
const TOKEN_MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
/** An hour and seven seconds, upstream's mark of a token whose lifetime nobody chose. */
const TOKEN_SECONDS = 3_607;
const READABLE_BY_ALL = 0o644;
/** The texts that Go's `strconv.ParseBool` takes for true. */
const TRUE = /^(1|t|T|TRUE|true|True)$/;

interface ServiceAccountDeps extends DefaultAccountDeps {
  reader: ResourceReader;
  /** Returns five characters, with which generated names end. */
  randomSuffix: () => string;
}

/**
 * Lets every pod run as a service account of its namespace, with the account's token at the usual place unless the pod
 * or the account opts out (`plugin/pkg/admission/serviceaccount`).
 */
export function createServiceAccount(deps: ServiceAccountDeps): AdmissionPlugin {
  const { reader, randomSuffix } = deps;
  const accountOf = (request: AdmissionRequest, name: string): ServiceAccount => {
    const { namespace } = request;
    const found = reader.get({ resource: "serviceaccounts", namespace, name });
    if (found !== undefined) return typed("ServiceAccount", found);
    const problem = `serviceaccount "${name}" not found`;
    throw refusal(request, `error looking up service account ${namespace}/${name}: ${problem}`);
  };
  return {
    name: "ServiceAccount",
    settle: createDefaultAccountWait(deps),
    mutate(request) {
      const object = writtenObject(request, "pods", ["CREATE"]);
      if (object === undefined || isMirror(typed("Pod", object))) return undefined;
      const pod = typed("Pod", object);
      const spec = pod.spec ?? { containers: [] };
      const account = accountOf(request, spec.serviceAccountName || DEFAULT_ACCOUNT);
      return runAs({ pod, spec, account }, randomSuffix);
    },
    validate(request) {
      const extended = writtenObject(request, "pods/ephemeralcontainers", ["UPDATE"]);
      const object = extended ?? writtenObject(request, "pods", ["CREATE"]);
      if (object === undefined) return;
      const pod = typed("Pod", object);
      if (isMirror(pod)) {
        if (extended === undefined) refuseMirror(request, pod);
        return;
      }
      const { serviceAccountName } = pod.spec ?? {};
      if (!serviceAccountName) {
        const name = pod.metadata?.name ?? "";
        throw refusal(request, `no service account specified for pod ${request.namespace}/${name}`);
      }
      const account = accountOf(request, serviceAccountName);
      if (!TRUE.test(account.metadata?.annotations?.[ENFORCE_MOUNTABLE_SECRETS] ?? "")) return;
      const problem = findForeignSecret(pod, account, extended === undefined ? "all" : "ephemeral");
      if (problem !== undefined) throw refusal(request, problem);
    },
  };
}

function isMirror(pod: Pod): boolean {
  return pod.metadata?.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined;
}

function runAs(
  { pod, spec, account }: { pod: Pod; spec: PodSpec; account: ServiceAccount },
  randomSuffix: () => string,
): KubeObject {
  const name = account.metadata?.name ?? DEFAULT_ACCOUNT;
  const own = spec.imagePullSecrets ?? [];
  const pullSecrets = own.length > 0 ? own : (account.imagePullSecrets ?? []).map((secret) => ({ ...secret }));
  const wantsToken = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
  return untyped({
    ...pod,
    spec: {
      ...(wantsToken ? mountToken(spec, randomSuffix) : spec),
      serviceAccountName: name,
      // The field's old name always has the same value.
      serviceAccount: name,
      ...(pullSecrets.length > 0 && { imagePullSecrets: pullSecrets }),
    },
  });
}

/**
 * Mounts the token's volume. An existing volume with the prefix is the token's: the pod was read and is created anew.
 */
function mountToken(spec: PodSpec, randomSuffix: () => string): PodSpec {
  const existing = spec.volumes?.find(({ name }) => name.startsWith(TOKEN_VOLUME_PREFIX));
  const isMounted = ({ volumeMounts }: Container) =>
    volumeMounts?.some(({ mountPath }) => mountPath === TOKEN_MOUNT_PATH);
  const { containers, initContainers, volumes = [] } = spec;
  if ([...containers, ...(initContainers ?? [])].every(isMounted)) return spec;
  const name = existing?.name ?? `${TOKEN_VOLUME_PREFIX}${randomSuffix()}`;
  const mount: VolumeMount = { name, readOnly: true, mountPath: TOKEN_MOUNT_PATH };
  const mounted = (container: Container): Container => {
    if (isMounted(container)) return container;
    return { ...container, volumeMounts: [...(container.volumeMounts ?? []), { ...mount }] };
  };
  return {
    ...spec,
    ...(initContainers && { initContainers: initContainers.map(mounted) }),
    containers: containers.map(mounted),
    volumes: existing ? volumes : [...volumes, tokenVolume(name)],
  };
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      defaultMode: READABLE_BY_ALL,
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        {
          downwardAPI: {
            items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
          },
        },
      ],
    },
  };
}

/** Refuses references of a mirror pod. It only shows a pod that runs anyway, so it can be given nothing. */
function refuseMirror(request: AdmissionRequest, pod: Pod): void {
  if (pod.spec?.serviceAccountName) throw refusal(request, "a mirror pod may not reference service accounts");
  if (referencesSecrets(pod)) throw refusal(request, "a mirror pod may not reference secrets");
  const sources = pod.spec?.volumes?.flatMap(({ projected }) => projected?.sources ?? []) ?? [];
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)) {
    throw refusal(request, "a mirror pod may not use ServiceAccountToken volume projections");
  }
}
