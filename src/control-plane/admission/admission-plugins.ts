import type { Clock } from "../../base/clock.ts";
import type { AdmissionPlugin, Authorize } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { DefaultAccountDeps } from "./await-default-account.ts";
import { createCertificateRequester } from "./certificate-requester.ts";
import { createCertificateSubjects, type LoadSubjectReader } from "./certificate-subjects.ts";
import {
  createCertificateApproval,
  createCertificateSigning,
  createCertificateSubjectRestriction,
} from "./certificates.ts";
import { createClaimResize } from "./claim-resize.ts";
import { createClusterTrustBundleAttest } from "./cluster-trust-bundle-attest.ts";
import { createDefaultIngressClass } from "./default-ingress-class.ts";
import { createDefaultStorageClass } from "./default-storage-class.ts";
import { createDefaultTolerationSeconds, type TolerationSecondsOptions } from "./default-toleration-seconds.ts";
import { createDeviceAccess } from "./device-access.ts";
import { createLimitRanger } from "./limit-ranger.ts";
import type { MatchDeps } from "./matching/match-request.ts";
import { createNamespaceLifecycle } from "./namespace-lifecycle.ts";
import { createNodeRestriction } from "./node-restriction.ts";
import { createPodCertificateSigning } from "./pod-certificate-signing.ts";
import { createPodSecurity } from "./pod-security/pod-security.ts";
import { createPodTopologyLabels } from "./pod-topology-labels.ts";
import { createMutatingPolicy } from "./policies/mutating-policy.ts";
import type { ResolveParamKind } from "./policies/policy-params.ts";
import { createValidatingPolicy } from "./policies/validating-policy.ts";
import { createPriority, type PriorityOptions } from "./priority.ts";
import { createResourceQuota } from "./resource-quota.ts";
import { createRuntimeClass } from "./runtime-class.ts";
import { createServiceAccount } from "./service-account.ts";
import { createStorageObjectInUseProtection } from "./storage-object-in-use.ts";
import { createTaintNodesByCondition } from "./taint-nodes-by-condition.ts";
import { type AttendedElsewhere, createUnattendedKinds } from "./unattended-kinds.ts";

interface AdmissionDeps extends Omit<DefaultAccountDeps, "clock"> {
  clock: Pick<Clock, "now" | "setTimer">;
  reader: ResourceReader;
  /** Returns five characters, with which generated names end. */
  randomSuffix: () => string;
  authorize: Authorize;
  loadSubjectReader: LoadSubjectReader;
  /** The plugin that asks admission webhooks. */
  webhooks: AdmissionPlugin;
  /** Finds where the objects of a kind are stored. */
  resolveKind: ResolveParamKind;
  /** All kinds that show the objects of this one, itself included: its other versions. */
  viewsOf: MatchDeps["viewsOf"];
}

interface AdmissionOptions extends PriorityOptions, TolerationSecondsOptions, AttendedElsewhere {
  /** The audiences of a service account token that names none: `--api-audiences`. */
  apiAudiences: readonly string[];
}

/**
 * The plugins, all of which are always on, in upstream's order (`pkg/kubeapiserver/options/plugins.go`). Plugins that
 * refuse by the request's content do so in `mutate`, before validation, as upstream's do. Deletions are judged in
 * `validate`.
 */
export function createAdmissionPlugins(deps: AdmissionDeps, options: AdmissionOptions): readonly AdmissionPlugin[] {
  const { reader, authorize } = deps;
  const subjects = createCertificateSubjects(deps.loadSubjectReader);
  const { apiAudiences } = options;
  return [
    createCertificateRequester(),
    createNamespaceLifecycle(reader),
    createLimitRanger(reader),
    createServiceAccount(deps),
    createNodeRestriction({ reader, authorize, parseCertificateRequest: subjects.parse, apiAudiences }),
    createTaintNodesByCondition(),
    createPodSecurity(reader),
    createPriority(reader, options),
    createDefaultTolerationSeconds(options),
    createDefaultStorageClass(reader),
    createStorageObjectInUseProtection(),
    createClaimResize(reader),
    createRuntimeClass(reader),
    createCertificateApproval(authorize),
    createCertificateSigning(authorize),
    createPodCertificateSigning(authorize, deps.clock),
    createClusterTrustBundleAttest(authorize),
    createCertificateSubjectRestriction(subjects),
    createDeviceAccess(deps),
    createDefaultIngressClass(reader),
    createPodTopologyLabels(reader),
    createMutatingPolicy(deps),
    createValidatingPolicy(deps),
    deps.webhooks,
    createResourceQuota(reader, deps.clock),
    createUnattendedKinds(options),
  ];
}
