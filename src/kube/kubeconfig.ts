import { dirname, resolve } from "node:path";
import { isRecord } from "../api/object.ts";
import { parseYaml } from "../api/yaml.ts";
import { messageOf } from "../base/errors.ts";
import type { ConnectionFiles, KubeConnection, KubeUser, PemSource } from "./connection.ts";
import { readExecPlugin } from "./kubeconfig-exec.ts";
import { type Fields, KubeconfigError, readFields } from "./kubeconfig-fields.ts";
import { readServer } from "./server-address.ts";

/** The largest file that is read: embedded certificates make one long, but not longer than this. */
const MAX_KUBECONFIG_BYTES = 4 * 1024 * 1024;

/**
 * Reads a kubeconfig and what its current context names, as client-go does: relative paths are relative to the file, and
 * what client-go refuses as ambiguous is refused. Files that it names are not read yet. Rejects with a KubeconfigError
 * that names file, field and mend.
 */
export async function readKubeconfig(path: string, files: ConnectionFiles): Promise<KubeConnection> {
  const source = resolve(path);
  const config = readFields(source, "", await readDocument(source, files));
  const context = findContext(config);
  const cluster = findNamed(config, "clusters", context, "cluster");
  const server = readServer(cluster);
  const proxyUrl = readProxyUrl(cluster);
  const tls = {
    authority: readPem(cluster, "certificate-authority", source),
    insecureSkipTlsVerify: cluster.flag("insecure-skip-tls-verify"),
    tlsServerName: cluster.text("tls-server-name") || undefined,
  };
  if (tls.insecureSkipTlsVerify && tls.authority !== undefined) {
    throw cluster.invalid(
      "insecure-skip-tls-verify",
      "specifying a root certificates file with the insecure flag is not allowed: remove one of the two",
    );
  }
  const { authority, insecureSkipTlsVerify, tlsServerName } = tls;
  const clusterInfo = { server, tlsServerName, insecureSkipTlsVerify, authority, proxyUrl };
  const user = context.has("user") ? findNamed(config, "users", context, "user") : readFields(source, "", undefined);
  const exec = user.has("exec")
    ? readExecPlugin(user.child("exec"), { directory: dirname(source), cluster, clusterInfo })
    : undefined;
  return {
    source,
    server,
    namespace: context.text("namespace"),
    ...tls,
    proxyUrl,
    user: { ...readUser(user, source), exec },
  };
}

async function readDocument(source: string, files: ConnectionFiles): Promise<unknown> {
  const bytes = await files.read(source, MAX_KUBECONFIG_BYTES).catch((error: unknown) => {
    const message = `kubeconfig ${source} cannot be read: ${messageOf(error)}`;
    throw new KubeconfigError("kubeconfig-unreadable", message, { cause: error });
  });
  const [document, second] = parseYaml(bytes.toString("utf8"));
  const problem = document?.errors[0] ?? (second && "more than one document");
  if (document === undefined || problem !== undefined) {
    const message = `kubeconfig ${source} cannot be read: ${problem ?? "the file is empty"}`;
    throw new KubeconfigError("kubeconfig-unreadable", message);
  }
  const kind = isRecord(document.value) ? document.value["kind"] : undefined;
  if (kind !== undefined && kind !== "Config") {
    throw new KubeconfigError("kubeconfig-invalid", `kubeconfig ${source}: kind: must be Config`);
  }
  return document.value;
}

function findContext(config: Fields): Fields {
  const current = config.text("current-context");
  if (current === "") throw config.invalid("current-context", "missing: name one of the contexts");
  const found = config.list("contexts").find((entry) => entry.text("name") === current);
  if (found === undefined) {
    throw config.invalid("current-context", `context was not found for specified context: ${current}`);
  }
  return found.child("context");
}

/** The part of the file that the context names, `users[admin].user`. */
function findNamed(config: Fields, list: "clusters" | "users", context: Fields, key: "cluster" | "user"): Fields {
  const name = context.text(key);
  const found = config.list(list).find((entry) => entry.text("name") === name);
  if (found === undefined) throw context.invalid(key, `names ${JSON.stringify(name)}, which is not among the ${list}`);
  return found.child(key);
}

const PROXY_SCHEMES = ["http:", "https:", "socks5:", "socks5h:"];

function readProxyUrl(cluster: Fields): string | undefined {
  const text = cluster.text("proxy-url");
  if (text === "") return undefined;
  const scheme = URL.canParse(text) ? new URL(text).protocol : "";
  if (PROXY_SCHEMES.includes(scheme)) return text;
  throw cluster.invalid("proxy-url", "must be the URL of a proxy: http://, https:// or socks5://");
}

/** A field `KEY` that names a file or a field `KEY-data` that holds it in base64. */
function readPem(fields: Fields, key: string, source: string): PemSource | undefined {
  const dataKey = `${key}-data`;
  if (fields.has(key) && fields.has(dataKey)) {
    throw fields.invalid(key, `${key}-data and ${key} are both specified: remove one of the two`);
  }
  if (fields.has(key)) return { kind: "file", path: resolve(dirname(source), fields.text(key)) };
  if (!fields.has(dataKey)) return undefined;
  const pem = Buffer.from(fields.text(dataKey), "base64").toString("utf8");
  if (!pem.includes("-----BEGIN ")) throw fields.invalid(dataKey, "must be PEM in base64");
  return { kind: "inline", pem };
}

function readUser(user: Fields, source: string): Omit<KubeUser, "exec"> {
  if (user.has("auth-provider")) {
    throw user.invalid(
      "auth-provider",
      "auth providers are not supported, and Kubernetes has removed them: use exec, a token or a client certificate",
    );
  }
  const certificate = readPem(user, "client-certificate", source);
  const key = readPem(user, "client-key", source);
  if (certificate !== undefined && key === undefined) {
    const problem = "missing: clientKeyData or clientKey file must be specified to use the clientCert method";
    throw user.invalid("client-key", problem);
  }
  const username = user.text("username");
  const hasToken = user.has("token") || user.has("tokenFile");
  if (username !== "" && hasToken) {
    const problem = "more than one authentication method found; found [token basicAuth], only one is allowed";
    throw user.invalid("username", problem);
  }
  return {
    clientCertificate: certificate && key && { certificate, key },
    token: readToken(user),
    tokenFile: user.has("tokenFile") ? resolve(dirname(source), user.text("tokenFile")) : undefined,
    basic: username === "" ? undefined : { username, password: user.text("password") },
  };
}

function readToken(user: Fields): string | undefined {
  const token = user.text("token").trim();
  // It goes into a header: a line break in it would be an error there, whose message quotes it.
  if (/[^\x21-\x7e]/.test(token)) throw user.invalid("token", "has characters that no token has");
  return token || undefined;
}
