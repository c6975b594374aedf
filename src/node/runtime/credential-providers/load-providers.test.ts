import { expect, it } from "vitest";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { loadCredentialProviders } from "./load-providers.ts";

const provider = (name: string, more = "") => `
- name: ${name}
  apiVersion: credentialprovider.kubelet.k8s.io/v1
  matchImages: ["*.example"]
  defaultCacheDuration: 10m
${more}`;
const config = (providers: string, version = "v1") =>
  `apiVersion: kubelet.config.k8s.io/${version}\nkind: CredentialProviderConfig\nproviders:${providers}`;

async function load(files: Record<string, string>, { programs = ["/bin/a", "/bin/b"], configPath = "/etc/c" } = {}) {
  const host = createFakeHost();
  await host.files.makeDirectory("/etc", 0o755);
  for (const path of programs) {
    await host.files.makeDirectory("/bin", 0o755);
    await host.files.writeAtomically(path, "#!", path.endsWith("!") ? 0o644 : 0o755);
  }
  for (const [path, text] of Object.entries(files)) {
    await host.files.makeDirectory(path.slice(0, path.lastIndexOf("/")), 0o755);
    await host.files.writeAtomically(path, text, 0o644);
  }
  return await loadCredentialProviders(host.files, { configPath, binDirectory: "/bin", tokensAllowed: true });
}

it.each(["v1", "v1beta1", "v1alpha1"])("reads a file of version %s", async (version) => {
  const { providers, hash } = await load({ "/etc/c": config(provider("a", "  args: [x]\n"), version) });
  expect(providers).toMatchObject([{ name: "a", args: ["x"], defaultCacheDuration: 600_000 }]);
  expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
});

it("takes the files of a directory together, in the order of their names", async () => {
  const files = { "/etc/c/2.yaml": config(provider("a")), "/etc/c/1.json": config(provider("b")), "/etc/c/x": "no" };
  const { providers } = await load(files);
  expect(providers.map(({ name }) => name)).toEqual(["b", "a"]);
});

const tokens = (version: string) => `  tokenAttributes: {serviceAccountTokenAudience: x, ${version}}\n`;
it.each<[what: string, files: Record<string, string>, message: string, programs?: string[]]>([
  ["no file", {}, 'unable to access path "/etc/c": no such file or directory'],
  ["an empty directory", { "/etc/c/x": "" }, 'no configuration files found in directory "/etc/c"'],
  ["no programs", { "/etc/c": config(provider("a")) }, "plugin binary directory /bin did not exist", []],
  ["no such program", { "/etc/c": config(provider("z")) }, "plugin binary executable /bin/z did not exist"],
  [
    "a file that is no program",
    { "/etc/c": config(provider("x!")) },
    "error inspecting binary executable /bin/x!: permission denied",
    ["/bin/x!"],
  ],
  [
    "a name that two files have",
    { "/etc/c/1.yaml": config(provider("a")), "/etc/c/2.yaml": config(provider("a")) },
    'duplicate provider name "a" found in configuration file(s)',
  ],
  [
    "an unknown field",
    { "/etc/c": config(provider("a", "  colour: red\n")) },
    'error decoding config "/etc/c": strict decoding error: unknown field "providers[0].colour"',
  ],
  [
    "a field that came later",
    { "/etc/c": config(provider("a", tokens("cacheType: Token")), "v1beta1") },
    'unknown field "providers[0].tokenAttributes"',
  ],
  ["another kind", { "/etc/c": "kind: Pod\napiVersion: v1\n" }, 'no kind "Pod" is registered for version "v1"'],
  ["no kind", { "/etc/c": "{}" }, "Object 'Kind' is missing"],
  [
    "no providers",
    { "/etc/c": config(" []") },
    "failed to validate credential provider config: providers: Required value: at least 1 item in plugins is required",
  ],
  [
    "what is missing",
    { "/etc/c": config("\n- name: a") },
    "[providers.apiVersion: Required value, providers.matchImages: Required value: at least 1 item in matchImages is required, providers.defaultCacheDuration: Required value]",
  ],
  [
    "a path for a name",
    { "/etc/c": config(provider('"../a b"')) },
    `[providers.name: Invalid value: "../a b": provider name cannot contain '/', providers.name: Invalid value: "../a b": provider name cannot contain spaces]`,
  ],
  [
    "a pattern that is no URL",
    { "/etc/c": config(provider("a").replace("*.example", "a:b")) },
    'providers.matchImages: Invalid value: "a:b": match image is invalid: parse "https://a:b": invalid port ":b" after host',
  ],
  [
    "token attributes without a cache type",
    { "/etc/c": config(provider("a", tokens("requireServiceAccount: true"))) },
    "providers.tokenAttributes.cacheType: Required value: cacheType is required to be set when tokenAttributes is specified. Supported values are: ServiceAccount, Token",
  ],
  [
    "keys that are required and optional",
    {
      "/etc/c": config(
        provider(
          "a",
          tokens(
            "cacheType: Token, requireServiceAccount: true, requiredServiceAccountAnnotationKeys: [k], optionalServiceAccountAnnotationKeys: [k]",
          ),
        ),
      ),
    },
    'providers.tokenAttributes: Invalid value: ["k"]: annotation keys cannot be both required and optional',
  ],
])("refuses %s", async (_what, files, message, programs = ["/bin/a", "/bin/b"]) => {
  await expect(load(files, { programs })).rejects.toThrow(message);
});
