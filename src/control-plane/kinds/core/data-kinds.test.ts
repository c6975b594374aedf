import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { ConfigMap, Secret } from "../../../api/gen/types.ts";
import { untyped } from "../../../api/object.ts";
import { configMapKind } from "./config-map.ts";
import { secretKind } from "./secret.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const secret = (fields: Secret) => untyped({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, ...fields });
const map = (fields: ConfigMap) => untyped({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, ...fields });
const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);

const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const SEALED = "Forbidden: field is immutable when `immutable` is set";

describe("a secret", () => {
  it("takes texts as data, over what was there, and never shows them as texts", () => {
    const sent = secret({ data: { a: base64("old"), b: base64("kept") }, stringData: { a: "néw" } });
    const stored = secretKind.strategy.default?.(sent) ?? {};
    expect(stored).toMatchObject({ type: "Opaque", data: { a: base64("néw"), b: base64("kept") } });
    expect(stored).not.toHaveProperty("stringData");
  });

  it.each<[string, Secret, string[]]>([
    ["holds anything", { type: "Opaque", data: { "a.b": base64("x") } }, []],
    ["has keys that can be files", { data: { "a/b": base64("x") } }, [`data[a/b]: Invalid value: "a/b": ${KEY_RULE}`]],
    [
      "is at most a mebibyte",
      { data: { a: base64("x".repeat(1024 * 1024 + 1)) } },
      ["data: Too long: may not be more than 1048576 bytes"],
    ],
    ["may be exactly a mebibyte", { data: { a: base64("x".repeat(1024 * 1024)) } }, []],
    [
      "of TLS has a certificate and a key",
      { type: "kubernetes.io/tls" },
      ["data[tls.crt]: Required value", "data[tls.key]: Required value"],
    ],
    ["of TLS may have empty ones", { type: "kubernetes.io/tls", data: { "tls.crt": "", "tls.key": "" } }, []],
    [
      "of a registry has its configuration",
      { type: "kubernetes.io/dockerconfigjson" },
      ["data[.dockerconfigjson]: Required value"],
    ],
    [
      "of a registry is JSON, which the message does not repeat",
      { type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": base64("{hush") } },
      ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character in JSON input'],
    ],
    ["of a registry is an object", { type: "kubernetes.io/dockercfg", data: { ".dockercfg": base64("{}") } }, []],
    ["of a login has one of the two", { type: "kubernetes.io/basic-auth", data: { password: "" } }, []],
    [
      "of a login does not lack both",
      { type: "kubernetes.io/basic-auth" },
      ["data[username]: Required value", "data[password]: Required value"],
    ],
    [
      "of SSH has a key with something in it",
      { type: "kubernetes.io/ssh-auth", data: { "ssh-privatekey": "" } },
      ["data[ssh-privatekey]: Required value"],
    ],
    [
      "of a service account says whose it is",
      { type: "kubernetes.io/service-account-token" },
      ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
    ],
  ])("%s", (_name, fields, errors) => {
    expect(show(secretKind.strategy.validate?.(secret(fields)))).toEqual(errors);
  });

  it.each<[string, Secret, Secret, string[]]>([
    ["may change its data", { type: "Opaque", data: { a: "" } }, { type: "Opaque" }, []],
    [
      "keeps its type",
      { type: "Opaque" },
      { type: "kubernetes.io/tls" },
      ['type: Invalid value: "kubernetes.io/tls": field is immutable'],
    ],
    ["may be sealed", {}, { immutable: true, data: { a: "" } }, []],
    [
      "stays sealed",
      { immutable: true, data: { a: "" } },
      { data: { a: "eA==" } },
      [`immutable: ${SEALED}`, `data: ${SEALED}`],
    ],
  ])("%s", (_name, before, after, errors) => {
    expect(show(secretKind.strategy.validateUpdate?.(secret(after), secret(before)))).toEqual(errors);
  });

  it.each<[string, Secret, string[]]>([
    ["none of other types", { type: "Opaque" }, []],
    [
      "none of a pair",
      {
        type: "kubernetes.io/tls",
        data: { "tls.crt": base64("-----BEGIN CERTIFICATE"), "tls.key": base64("-----BEGIN KEY") },
      },
      [],
    ],
    [
      "of a missing certificate",
      { type: "kubernetes.io/tls" },
      ["tls: failed to find any PEM data in certificate input"],
    ],
    [
      "of a missing key",
      { type: "kubernetes.io/tls", data: { "tls.crt": base64("-----BEGIN CERTIFICATE") } },
      ["tls: failed to find any PEM data in key input"],
    ],
  ])("has warnings: %s", (_name, fields, warnings) => {
    expect(secretKind.strategy.warnings?.(secret(fields))).toEqual(warnings);
  });

  it("is selected by its type", () => {
    expect(secretKind.strategy.fields?.["type"]?.(secret({ type: "x" }))).toBe("x");
  });
});

describe("a config map", () => {
  it.each<[string, ConfigMap, string[]]>([
    ["holds texts and bytes", { data: { a: "x" }, binaryData: { b: base64("y") } }, []],
    [
      "has a key once",
      { data: { a: "x" }, binaryData: { a: base64("y") } },
      ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    ],
    [
      "has keys that can be files",
      { binaryData: { "..": "" } },
      ["binaryData[..]: Invalid value: \"..\": must not be '..'"],
    ],
    [
      "counts texts in bytes, and both together",
      { data: { a: "é".repeat(400_000) }, binaryData: { b: base64("x".repeat(250_000)) } },
      ["Too long: may not be more than 1048576 bytes"],
    ],
  ])("%s", (_name, fields, errors) => {
    expect(show(configMapKind.strategy.validate?.(map(fields)))).toEqual(errors);
  });

  it("stays sealed", () => {
    const sealed = map({ immutable: true, data: { a: "x" }, binaryData: { b: "" } });
    expect(show(configMapKind.strategy.validateUpdate?.(map({ immutable: true, data: { a: "y" } }), sealed))).toEqual([
      `data: ${SEALED}`,
      `binaryData: ${SEALED}`,
    ]);
    expect(show(configMapKind.strategy.validateUpdate?.(sealed, sealed))).toEqual([]);
  });
});
