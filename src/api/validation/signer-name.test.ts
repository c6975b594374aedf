import { describe, expect, it } from "vitest";
import { formatFieldError } from "../field-error.ts";
import { validateSignerName } from "./signer-name.ts";

const problemsOf = (name: string) => validateSignerName("signerName", name).map(formatFieldError);
const label = (length: number) => "a".repeat(length);
/** A domain of 253 characters. */
const LONG_DOMAIN = [label(63), label(63), label(63), label(61)].join(".");

describe("the name of a signer", () => {
  it.each(["example.com/s", "kubernetes.io/kube-apiserver-client", `${LONG_DOMAIN}/${label(63)}.${label(253)}`])(
    "may be %s",
    (name) => {
      expect(problemsOf(name)).toEqual([]);
    },
  );

  it.each([
    ["", ["signerName: Required value"]],
    ["a.b", [expect.stringContaining("of the form 'example.com/signer-name'")]],
    ["a.b/c/d", [expect.stringContaining("of the form 'example.com/signer-name'")]],
    ["a/c", ['signerName: Invalid value: "a": should be a domain with at least two segments separated by dots']],
    [
      "a.B/c",
      [expect.stringMatching(/^signerName: Invalid value: "a\.B": validating label "B": a lowercase RFC 1123 label /)],
    ],
    ["a.b/", [expect.stringMatching(/^signerName: Invalid value: "": validating label "": /)]],
    ["a.b/C_.D_", [expect.stringMatching(/^signerName: Invalid value: "C_\.D_": validating label "C_": /)]],
    [`${label(64)}.b/c`, [expect.stringMatching(/must be no more than 63 characters$/)]],
    [
      `a${LONG_DOMAIN}/c`,
      [
        "signerName: Too long: may not be more than 253 bytes",
        expect.stringMatching(/^signerName: Invalid value: .*must be no more than 63 characters$/),
      ],
    ],
    [`${LONG_DOMAIN}/${label(200)}.${label(200)}`, ["signerName: Too long: may not be more than 571 bytes"]],
  ])("may not be %j", (name, problems) => {
    expect(problemsOf(name)).toEqual(problems);
  });
});
