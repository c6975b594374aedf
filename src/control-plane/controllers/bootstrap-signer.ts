import { createHmac } from "node:crypto";
import { BOOTSTRAP_TOKEN_NAMESPACE, BOOTSTRAP_TOKEN_PREFIX, readBootstrapToken } from "../../api/bootstrap-token.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";

const CLUSTER_INFO = { resource: "configmaps", namespace: "kube-public", name: "cluster-info" };
const SIGNATURE_PREFIX = "jws-kubeconfig-";
const SECRET_NAME = new RegExp(`^${BOOTSTRAP_TOKEN_PREFIX}([a-z0-9]{6})$`);

/**
 * Signs the kubeconfig in the config map `cluster-info` of kube-public with each bootstrap token that allows it, and takes
 * away the signatures of all others. Whoever joins with a token knows by them that the map is of who has the token, too
 * (`pkg/controller/bootstrap`).
 */
export function createBootstrapSigner(deps: ControllerDeps): Controller {
  const { reader, writer, feed, clock } = deps;
  const queue = createWorkQueue(deps, {
    name: "bootstrap_signer_queue",
    async reconcile() {
      const found = reader.get(CLUSTER_INFO);
      const tokens = reader.list("secrets", BOOTSTRAP_TOKEN_NAMESPACE).flatMap((secret) => {
        return readSigner(secret, clock.now()) ?? [];
      });
      const signed = found && sign(found, tokens);
      if (signed !== undefined) await unlessOvertaken(writer.update(CLUSTER_INFO.resource, signed));
      return undefined;
    },
  });
  const touch = () => queue.add(CLUSTER_INFO.name);
  const follow = () => [
    feed.follow(CLUSTER_INFO.resource, ({ object: { metadata } }) => {
      if (metadata.namespace === CLUSTER_INFO.namespace && metadata.name === CLUSTER_INFO.name) touch();
    }),
    feed.follow("secrets", ({ object }) => {
      if (readBootstrapToken(object) !== undefined) touch();
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

/** The token by which the secret has something signed; undefined where it has not. An expired one is deleted anyway. */
function readSigner(object: KubeObject, now: number): { id: string; secret: string } | undefined {
  const [, id = ""] = SECRET_NAME.exec(object.metadata.name ?? "") ?? [];
  const token = readBootstrapToken(object);
  if (token === undefined || id === "" || token.id !== id || token.secret === "") return undefined;
  if ((token.expiresAt ?? Number.POSITIVE_INFINITY) <= now || !token.allows("signing")) return undefined;
  return token;
}

/** The map with the signatures of these tokens and of no others; undefined when it has them, or nothing to be signed. */
function sign(object: KubeObject, tokens: readonly { id: string; secret: string }[]): KubeObject | undefined {
  const map = typed("ConfigMap", object);
  const kubeconfig = map.data?.["kubeconfig"];
  if (kubeconfig === undefined) return undefined;
  const others = Object.entries(map.data ?? {}).filter(([key]) => !key.startsWith(SIGNATURE_PREFIX));
  const signatures = tokens.map((token) => [`${SIGNATURE_PREFIX}${token.id}`, computeSignature(kubeconfig, token)]);
  const data: Record<string, string> = Object.fromEntries([...others, ...signatures]);
  const isSigned = Object.keys(data).length === Object.keys(map.data ?? {}).length;
  if (isSigned && signatures.every(([key = "", signature]) => map.data?.[key] === signature)) return undefined;
  return untyped({ ...map, data });
}

/** A JSON web signature without its content, of which appendix F of RFC 7515 tells: the reader has the content. */
function computeSignature(content: string, { id, secret }: { id: string; secret: string }): string {
  const encode = (text: string) => Buffer.from(text).toString("base64url");
  const header = encode(JSON.stringify({ alg: "HS256", kid: id }));
  const signature = createHmac("sha256", secret)
    .update(`${header}.${encode(content)}`)
    .digest("base64url");
  return `${header}..${signature}`;
}
