import type { Secret, ServiceAccount } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../control-loop/namespaced-key.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import type { ObjectName } from "../ports/resources.ts";

const TYPE = "kubernetes.io/service-account-token";
const NAME_ANNOTATION = "kubernetes.io/service-account.name";
const UID_ANNOTATION = "kubernetes.io/service-account.uid";

interface LegacyTokenDeps extends ControllerDeps {
  /** Issues a token without end for the account, bound to the secret of that name. */
  issueLegacyToken: (account: { namespace: string; name: string; uid: string }, secretName: string) => string;
}

/**
 * Gives each secret of the type `kubernetes.io/service-account-token` the token of the account that it names, and
 * deletes the secret with the account (`tokens_controller`). Such secrets exist only where somebody asks for them.
 */
export function createLegacyTokenController(deps: LegacyTokenDeps, { rootCa }: { rootCa: string }): Controller {
  const { reader, writer, feed } = deps;
  const certificate = encodeBase64(rootCa);
  const queue = createWorkQueue(deps, {
    name: "legacy-service-account-token",
    async reconcile(key) {
      const target = { resource: "secrets", ...splitNamespacedKey(key) };
      const found = reader.get(target);
      if (found === undefined) await forgetSecret(deps, target);
      if (found === undefined || accountNameOf(found) === undefined) return undefined;
      const secret = typed("Secret", found);
      const account = findAccount(deps, secret);
      if (account === undefined) {
        const { uid } = found.metadata;
        await unlessOvertaken(writer.remove(target, { preconditions: uid === undefined ? {} : { uid } }));
        return undefined;
      }
      const filled = fill(secret, { account, certificate, issue: deps.issueLegacyToken });
      if (filled !== undefined) await unlessOvertaken(writer.update("secrets", filled));
      return undefined;
    },
  });
  const addSecretsOf = ({ metadata }: KubeObject) => {
    for (const secret of reader.list("secrets", metadata.namespace)) {
      if (accountNameOf(secret) === metadata.name) queue.add(namespacedKeyOf(secret.metadata));
    }
  };
  const follow = () => [
    feed.follow("secrets", ({ object }) => {
      if (accountNameOf(object) !== undefined) queue.add(namespacedKeyOf(object.metadata));
    }),
    feed.follow("serviceaccounts", ({ type, object }) => {
      if (type !== "MODIFIED") addSecretsOf(object);
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

/** The name of the secret's account; undefined for a secret of another type. */
function accountNameOf(object: KubeObject): string | undefined {
  if (typed("Secret", object).type !== TYPE) return undefined;
  return object.metadata.annotations?.[NAME_ANNOTATION];
}

/** The secret's account; undefined when it is gone, even if another account has its name now. */
function findAccount({ reader }: ControllerDeps, { metadata = {} }: Secret): ServiceAccount | undefined {
  const { namespace = "", annotations = {} } = metadata;
  const name = annotations[NAME_ANNOTATION] ?? "";
  const found = reader.get({ resource: "serviceaccounts", namespace, name });
  const uid = annotations[UID_ANNOTATION];
  if (found === undefined || (uid && uid !== found.metadata.uid)) return undefined;
  return typed("ServiceAccount", found);
}

function fill(
  secret: Secret,
  options: { account: ServiceAccount; certificate: string; issue: LegacyTokenDeps["issueLegacyToken"] },
): KubeObject | undefined {
  const { account, certificate, issue } = options;
  const { metadata = {}, data = {} } = secret;
  const { namespace = "", name = "" } = metadata;
  const { name: accountName = "", uid = "" } = account.metadata ?? {};
  const isFull = data["ca.crt"] === certificate && data["namespace"] && data["token"];
  if (isFull && metadata.annotations?.[UID_ANNOTATION] === uid) return undefined;
  const annotations = { ...metadata.annotations, [UID_ANNOTATION]: uid };
  const identified = { ...secret, metadata: { ...metadata, annotations } };
  const token = data["token"] || encodeBase64(issue({ namespace, name: accountName, uid }, name));
  const filled = { ...data, "ca.crt": certificate, namespace: data["namespace"] || encodeBase64(namespace), token };
  return untyped({ ...identified, data: filled });
}

const encodeBase64 = (text: string) => Buffer.from(text).toString("base64");

/** Removes a secret that is gone from the accounts that list it. */
async function forgetSecret({ reader, writer }: ControllerDeps, { namespace, name }: ObjectName): Promise<void> {
  for (const object of reader.list("serviceaccounts", namespace)) {
    const account = typed("ServiceAccount", object);
    const secrets = account.secrets?.filter((secret) => secret.name !== name) ?? [];
    if (secrets.length === (account.secrets?.length ?? 0)) continue;
    await unlessOvertaken(writer.update("serviceaccounts", untyped({ ...account, secrets })));
  }
}
