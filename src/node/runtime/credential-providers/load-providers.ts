import { createHash } from "node:crypto";
import { CodedError, codeOf, messageOf } from "../../../base/errors.ts";
import { type CredentialProvider, decodeCredentialProviders } from "../../../config/credential-provider-config.ts";
import { validateCredentialProviders } from "../../../config/validate-credential-providers.ts";
import type { Files } from "../../../host/port.ts";

/** The configuration of the node's credential providers, after validation. */
export interface LoadedProviders {
  readonly providers: readonly CredentialProvider[];
  /** `sha256:…` over the content of the files; it is reported as a metric. */
  readonly hash: string;
}

interface LoadProvidersOptions {
  /** A file, or a directory of files that are taken together in the order of their names. */
  readonly configPath: string;
  readonly binDirectory: string;
  readonly tokensAllowed: boolean;
}

/**
 * After this error the node agent must not start. Otherwise pods that need these credentials would fail one by one for
 * a reason that no user sees.
 */
class CredentialProviderError extends CodedError<"credential-providers-invalid"> {
  override readonly name = "CredentialProviderError";
}

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const ANY_EXECUTE = 0o111;

/** Reads and checks the configuration and looks for its programs, as RegisterCredentialProviderPlugins does. */
export async function loadCredentialProviders(
  files: Pick<Files, "read" | "list" | "stat">,
  { configPath, binDirectory, tokensAllowed }: LoadProvidersOptions,
): Promise<LoadedProviders> {
  if ((await files.stat(binDirectory)) === undefined)
    throw fail(`plugin binary directory ${binDirectory} did not exist`);
  const { providers, hash } = await readProviders(files, configPath);
  const errors = validateCredentialProviders(providers, { tokensAllowed });
  if (errors.length > 0) {
    const all = errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`;
    throw fail(`failed to validate credential provider config: ${all}`);
  }
  for (const { name } of providers) {
    const path = `${binDirectory}/${name}`;
    const program = await files.stat(path);
    if (program === undefined) throw fail(`plugin binary executable ${path} did not exist`);
    if (program.type !== "file" || (program.mode & ANY_EXECUTE) === 0) {
      throw fail(`error inspecting binary executable ${path}: permission denied`);
    }
  }
  return { providers, hash };
}

async function readProviders(
  files: Pick<Files, "read" | "list" | "stat">,
  configPath: string,
): Promise<LoadedProviders> {
  const hasher = createHash("sha256");
  const providers: CredentialProvider[] = [];
  for (const path of await listFiles(files, configPath)) {
    const content = await files.read(path, MAX_FILE_BYTES).catch((error: unknown) => {
      throw fail(`unable to read file ${JSON.stringify(path)}: ${messageOf(error)}`);
    });
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(content.length));
    hasher.update(length).update(content);
    const decoded = decodeCredentialProviders(content.toString("utf8"));
    if (!decoded.ok) throw fail(`error decoding config ${JSON.stringify(path)}: ${decoded.error}`);
    for (const provider of decoded.providers) {
      if (providers.some(({ name }) => name === provider.name)) {
        throw fail(`duplicate provider name ${JSON.stringify(provider.name)} found in configuration file(s)`);
      }
      providers.push(provider);
    }
  }
  return { providers, hash: `sha256:${hasher.digest("hex")}` };
}

async function listFiles(files: Pick<Files, "list" | "stat">, configPath: string): Promise<string[]> {
  const status = await files.stat(configPath);
  if (status === undefined)
    throw fail(`unable to access path ${JSON.stringify(configPath)}: no such file or directory`);
  if (status.type !== "directory") return [configPath];
  const entries = await files.list(configPath).catch((error: unknown) => {
    throw fail(`unable to read directory ${JSON.stringify(configPath)}: ${codeOf(error) ?? messageOf(error)}`);
  });
  const paths = entries
    .filter(({ name, type }) => type !== "directory" && /\.(json|ya?ml)$/.test(name))
    .map(({ name }) => `${configPath}/${name}`);
  if (paths.length === 0) throw fail(`no configuration files found in directory ${JSON.stringify(configPath)}`);
  return paths;
}

function fail(message: string): CredentialProviderError {
  const flags = "--image-credential-provider-config, --image-credential-provider-bin-dir";
  return new CredentialProviderError("credential-providers-invalid", `${message} (${flags})`);
}
