import type { Answer, ApiClient } from "./client.ts";
import { configMap, pathsIn } from "./objects.ts";

const GROUP = "/apis/admissionregistration.k8s.io/v1";
const API_VERSION = "admissionregistration.k8s.io/v1";
/** The policies of one case never meet those of another, and run in the order in which they were made. */
let count = 0;

interface PolicyFields {
  /** Instead of config maps. */
  readonly rule?: object;
  readonly resources?: readonly string[];
  /** Beside the rule. */
  readonly constraints?: object;
  /** Fields of the binding's spec, beside the policy's name. */
  readonly binding?: object;
  /** A field of the policy's spec. */
  readonly [field: string]: unknown;
}

/** Admission policies for objects of a case's namespace. */
export interface Policies {
  /** A rule about config maps, changed by the fields. */
  rule(fields?: object): object;
  create(fields: PolicyFields): Promise<Answer>;
  /** Creates a policy with a binding, and waits until the server applies them. */
  register(fields: PolicyFields): Promise<{ readonly policy: string; readonly binding: string }>;
  /** Removes all of them, and waits until the server does not apply them any more. */
  remove(): Promise<void>;
}

/** Makes policies of either kind in the case's namespace. */
export function createPolicies(
  client: ApiClient,
  { kind, namespace }: { kind: "Mutating" | "Validating"; namespace: string },
): Policies {
  const policiesPath = `${GROUP}/${kind.toLowerCase()}admissionpolicies`;
  const bindingsPath = `${GROUP}/${kind.toLowerCase()}admissionpolicybindings`;
  const made: string[] = [];
  const rule = (fields: object = {}) => ({
    apiGroups: [""],
    apiVersions: ["v1"],
    resources: ["configmaps"],
    operations: ["CREATE", "UPDATE"],
    ...fields,
  });
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };

  const create = async ({ rule: fields, resources, constraints, binding: _binding, ...spec }: PolicyFields) => {
    const excludeResourceRules = [rule({ resourceNames: ["probe"] })];
    const name = `policy-${String(++count).padStart(4, "0")}`;
    const resourceRules = [rule({ ...(resources && { resources }), ...fields })];
    const answer = await client.json("POST", policiesPath, {
      apiVersion: API_VERSION,
      kind: `${kind}AdmissionPolicy`,
      metadata: { name },
      spec: {
        ...(kind === "Mutating" && { reinvocationPolicy: "Never" }),
        matchConstraints: { resourceRules, excludeResourceRules, namespaceSelector, ...constraints },
        ...spec,
      },
    });
    if (answer.status === 201) made.push(`${policiesPath}/${name}`);
    return answer;
  };
  const bind = async (policyName: string, fields: object) => {
    await client.object("POST", bindingsPath, {
      apiVersion: API_VERSION,
      kind: `${kind}AdmissionPolicyBinding`,
      metadata: { name: policyName },
      spec: { policyName, ...(kind === "Validating" && { validationActions: ["Deny"] }), ...fields },
    });
    made.push(`${bindingsPath}/${policyName}`);
  };
  /** Registers a policy that answers each creation of a config map by this name. */
  const waitUntilApplied = async () => {
    const matchConditions = [{ name: "probe", expression: "request.name == 'probe'" }];
    const probing =
      kind === "Mutating"
        ? { mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: `[JSONPatch{op: 'probe', path: ''}]` } }] }
        : { validations: [{ expression: "false" }] };
    const { body } = await create({ matchConditions, constraints: { excludeResourceRules: [] }, ...probing });
    const { name } = Object(body).metadata;
    await bind(name, {});
    await probe((message) => message.includes(`'${name}'`));
    for (const path of made.splice(-2)) await client.json("DELETE", path);
    await probe((message) => !message.includes(`'${name}'`));
  };
  /** Creates until the answer is as wanted: kube-apiserver learns of policies a little later. */
  const probe = async (isReached: (message: string) => boolean) => {
    const path = pathsIn(namespace).configMaps;
    for (;;) {
      const { body } = await client.json("POST", path, configMap("probe"), { query: { dryRun: "All" } });
      const { message = "", details = {} } = Object(body);
      if (isReached(`${message} ${JSON.stringify(details)}`)) return;
    }
  };

  return {
    rule,
    create,
    async register(fields) {
      const { status, body } = await create(fields);
      if (status !== 201) throw new Error(`the policy was refused: ${JSON.stringify(body)}`);
      const { name } = Object(body).metadata;
      await bind(name, fields.binding ?? {});
      await waitUntilApplied();
      return { policy: name, binding: name };
    },
    async remove() {
      const paths = made.splice(0);
      for (const path of paths) await client.json("DELETE", path);
      if (paths.length > 0) await waitUntilApplied();
    },
  };
}
