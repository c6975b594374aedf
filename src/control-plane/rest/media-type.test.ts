import { describe, expect, it } from "vitest";
import { acceptedForm, acceptedPlainForm } from "./media-type.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const TABLE = "as=Table;g=meta.k8s.io;v=v1";
const PARTIAL = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

const json = { encoding: "json", as: undefined, version: "v1" };
const yaml = { ...json, encoding: "yaml" };
const protobuf = { ...json, encoding: "protobuf" };
const partial = { ...protobuf, as: "PartialObjectMetadata" };

describe("the form of a built-in kind", () => {
  it.each([
    ["", json],
    ["*/*", json],
    ["*", json],
    ["application/*", json],
    ["application/yaml", yaml],
    [`application/json;${TABLE},application/json`, { ...json, as: "Table" }],
    ["application/json;as=Table;v=v1beta1;g=meta.k8s.io", { ...json, as: "Table", version: "v1beta1" }],
    ["application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", { ...json, as: "PartialObjectMetadataList" }],
    // What Go programs ask for.
    [`${PROTOBUF}, application/json`, protobuf],
    [`${PROTOBUF};${PARTIAL},application/json;${PARTIAL},application/json`, partial],
    // Qualities decide, then the order; what is named comes before what is left open, whatever its quality.
    [`${PROTOBUF};q=0.5,application/json`, json],
    [`application/json;q=0.5,${PROTOBUF};q=0.6`, protobuf],
    [`application/yaml,${PROTOBUF}`, yaml],
    [`*/*,${PROTOBUF};q=0.1`, protobuf],
    [`*/*,application/*;q=0.1`, json],
    ["application/json;q=0", json],
    // There is no Table in protobuf.
    [`${PROTOBUF};${TABLE},${PROTOBUF}`, protobuf],
    [`${PROTOBUF};${TABLE},application/json;${TABLE}`, { ...json, as: "Table" }],
    // Where group, version or form is unknown, the next entry is taken.
    ["application/json;as=Table;g=other;v=v1, */*", json],
    ["application/json;as=Chart;g=meta.k8s.io;v=v1, application/yaml", yaml],
    ["application/json;g=meta.k8s.io;v=v1, application/yaml", yaml],
    [`${PROTOBUF};stream=pipe,application/yaml`, yaml],
    [`${PROTOBUF};stream=watch`, protobuf],
    ["application/yaml;stream=watch,*/*", json],
    ["text/html, application/json;pretty=1;charset=utf-8", json],
    ["nonsense, application/json", json],
  ])("accepting %j is %j", (accept, form) => expect(acceptedForm(accept, { protobuf: true })).toEqual(form));
});

describe("the form of a custom kind", () => {
  it.each([
    [`${PROTOBUF},application/json`, json],
    [`${PROTOBUF},*/*`, json],
    [`${PROTOBUF};${PARTIAL},application/json`, partial],
  ])("accepting %j is %j", (accept, form) => expect(acceptedForm(accept, { protobuf: false })).toEqual(form));

  it("cannot be protobuf alone", () => {
    expect(() => acceptedForm(PROTOBUF, { protobuf: false })).toThrow(
      "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
  });
});

describe("what cannot be given", () => {
  it.each([
    `${PROTOBUF};${TABLE}`,
    "application/json;as=Chart;g=meta.k8s.io;v=v1",
    "application/json;sv=v2",
    `${PROTOBUF};stream=pipe`,
  ])("is told where the kind has no such form: %s", (accept) => {
    expect(() => acceptedForm(accept, { protobuf: true })).toThrow(/^only the following media types are accepted: /);
  });

  it("is told where nothing has", () => {
    expect(() => acceptedForm("text/html", { protobuf: true })).toThrow(
      "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
  });

  it("is a watch in YAML", () => {
    expect(() => acceptedForm("application/yaml,application/json", { protobuf: true, stream: true })).toThrow(
      `only the following media types are accepted: application/json;stream=watch, ${PROTOBUF};stream=watch`,
    );
  });
});

it.each([
  [PROTOBUF, protobuf],
  ["application/yaml", yaml],
  [`application/json;${TABLE},${PROTOBUF}`, protobuf],
  [`${PROTOBUF};${PARTIAL}`, json],
  ["text/html", json],
  ["", json],
])("says what went wrong to whoever accepts %j in %j", (accept, form) => {
  expect(acceptedPlainForm(accept)).toEqual(form);
});

it("takes no longer for a header of thousands of forms, which anybody may send", () => {
  const accept = "*/*,".repeat(7_500) + "a/b,".repeat(7_500);
  const before = process.cpuUsage();
  expect(acceptedPlainForm(accept)).toEqual(json);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000, "milliseconds; it took 40 s").toBeLessThan(1_000);
});
