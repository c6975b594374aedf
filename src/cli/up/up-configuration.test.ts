import { readFileSync } from "node:fs";
import { Command } from "commander";
import { describe, expect, it, test } from "vitest";
import { addUp } from "./up-command.ts";
import { decodeUpConfiguration, describeChanges, formatUpConfiguration, type UpValues } from "./up-configuration.ts";
import type { UpOptions } from "./up-options.ts";
import { computeUpSchema } from "./up-schema.ts";
import { UP_SETTINGS } from "./up-settings.ts";

const HEAD = "apiVersion: nodelet.dev/v1alpha1\nkind: UpConfiguration\n";
const decode = (text: string) => decodeUpConfiguration(HEAD + text, "/etc/nodelet/up.yaml");

/** The effective options of a command line and a file. */
async function effective(words: readonly string[], values: UpValues = {}): Promise<UpOptions> {
  const found: UpOptions[] = [];
  const program = new Command("nodelet").exitOverride().configureOutput({ writeErr: () => undefined });
  addUp(program, async (_sources, apply) => void found.push(apply(values)));
  await program.parseAsync(["up", ...words], { from: "user" });
  const [options] = found;
  if (options === undefined) throw new Error("the command did not run");
  return options;
}

describe("a configuration file", () => {
  it("has a field for every setting, each with its default where the file says nothing", async () => {
    const options = await effective([]);
    const presets = UP_SETTINGS.map(({ field, preset }) => [field, preset]);
    expect(options).toMatchObject(Object.fromEntries(presets.filter(([, preset]) => preset !== undefined)));
  });

  it("is read as it is printed", async () => {
    const audit = { auditPolicyFile: "/etc/policy.yaml", auditLogPath: "/var/log/audit.log" };
    const options = { ...(await effective([])), manifests: "/var/lib/nodelet/manifests", ...audit };
    const printed = formatUpConfiguration({ ...options }, "/schema.json");
    expect(printed).toMatch(/^# yaml-language-server: \$schema=\/schema\.json\napiVersion: /);
    const read = decodeUpConfiguration(printed, "/x/up.yaml");
    expect(Object.keys(read)).toEqual(UP_SETTINGS.map(({ field }) => field));
    expect(await effective([], read)).toMatchObject(options);
  });

  it("gives paths from where it lies", () => {
    expect(decode("manifests: pods\nstateDir: /srv/n\n")).toEqual({
      manifests: "/etc/nodelet/pods",
      stateDir: "/srv/n",
    });
  });

  it("says nothing by null", () => {
    expect(decode("apiPort: null\n")).toEqual({});
  });

  it.each([
    ["apiport: 1", 'unknown field "apiport": do you mean "apiPort"?'],
    ["podCIDRs: 10.0.0.0/8", 'unknown field "podCIDRs": do you mean "podCidr"?'],
    ["somethingElse: 1", 'unknown field "somethingElse": see nodelet up --print-config'],
    ['apiPort: "6443"', 'apiPort: must be a whole number from 1 to 65535, not "6443"'],
    ["healthzPort: 70000", "healthzPort: must be a whole number from 0 to 65535, not 70000"],
    ["proxy: maybe", 'proxy: must be true or false, not "maybe"'],
    ["kubeletArg: --v=4", 'kubeletArg: must be a list of texts, not "--v=4"'],
    ["logFormat: xml", 'logFormat: must be text or json, not "xml"'],
    ["bridge: a bridge", 'bridge: "a bridge": It must be at most 15 letters'],
    ["podCidr: 10.0.0.0/33", 'podCidr: "10.0.0.0/33"'],
    ["manifests: 5", "manifests: must be a path, not 5"],
    ["apiPort: 1\napiPort: 2", "apiPort"],
    ["apiPort: [", "line 3"],
  ])("is refused with its name and the field's: %s", (text, message) => {
    expect(() => decode(text)).toThrow(
      expect.objectContaining({ code: "bad-configuration", message: expect.stringContaining(message) }),
    );
    expect(() => decode(text)).toThrow("/etc/nodelet/up.yaml: ");
  });

  it.each([
    ["", "it must be one document, not 0"],
    ["- 1", "it must be an object"],
    ["apiVersion: v1\nkind: UpConfiguration", 'apiVersion: must be "nodelet.dev/v1alpha1", not "v1"'],
    ["apiVersion: nodelet.dev/v1alpha1", 'kind: must be "UpConfiguration", not nothing'],
    [`${HEAD}---\n${HEAD}`, "it must be one document, not 2"],
  ])("is refused where it is another kind of file: %j", (text, message) => {
    expect(() => decodeUpConfiguration(text, "/x")).toThrow(message);
  });

  it("tells all that is wrong at once", () => {
    expect(() => decode("proxy: 1\ndns: 2")).toThrow(/proxy: .*; dns: /);
  });
});

describe("flags", () => {
  const file = decode("apiPort: 7000\ndetach: true\nproxy: false\nkubeletArg: [--v=2]\n");

  it("leave what the file says", async () => {
    expect(await effective([], file)).toMatchObject({
      apiPort: 7000,
      detach: true,
      proxy: false,
      kubeletArg: ["--v=2"],
    });
  });

  it("go before the file, also where they ask for the default", async () => {
    const words = ["--api-port=6443", "--no-detach", "--proxy", "--kubelet-arg=--v=4", "--kubelet-arg=--v=5"];
    expect(await effective(words, file)).toMatchObject({
      apiPort: 6443,
      detach: false,
      proxy: true,
      kubeletArg: ["--v=4", "--v=5"],
    });
  });
});

test("changes are told by field, and only those", () => {
  expect(describeChanges({ apiPort: 1, dns: true }, { apiPort: 2, dns: true, bridge: "br1" })).toEqual([
    'bridge: "br1" instead of nothing',
    "apiPort: 2 instead of 1",
  ]);
  expect(describeChanges(decode("dns: true"), decode("dns: true"))).toEqual([]);
});

test("the schema has every field with its default, and allows no other", () => {
  const schema = JSON.parse(JSON.stringify(computeUpSchema()));
  expect(Object.keys(schema.properties)).toEqual(["apiVersion", "kind", ...UP_SETTINGS.map(({ field }) => field)]);
  expect(schema.additionalProperties).toBe(false);
  expect(schema.properties.apiPort).toMatchObject({ type: "integer", minimum: 1, maximum: 65_535, default: 6443 });
  expect(schema.properties.proxy).toMatchObject({ type: "boolean", default: true });
});

test("docs/commands.md has a row for every field, with its flag and default", () => {
  const docs = readFileSync(new URL("../../../docs/commands.md", import.meta.url), "utf8");
  const rows = UP_SETTINGS.map(({ field, flags, preset }) => {
    const value = preset === undefined ? "" : `\`${JSON.stringify(preset)}\``;
    return [`\`${field}\``, `\`${flags}\``, value];
  });
  const found = docs.split("\n").flatMap((line) => {
    const [, field = "", flags = "", preset = ""] = line.split("|").map((cell) => cell.trim());
    return flags.startsWith("`-") ? [[field, flags, preset]] : [];
  });
  expect(found).toEqual(rows);
});
