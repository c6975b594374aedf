import { expect, it } from "vitest";
import { computeContextOptions } from "./server-context.ts";

const pair = { certificatePem: "certificate", keyPem: "key" };

it("believes the given authorities only, and none where none is given", () => {
  const believedBy = (clientAuthorityPem: string | undefined) => {
    const identity = { pair, clientAuthorityPem };
    return computeContextOptions({ identity, asksForCertificate: clientAuthorityPem !== undefined }, identity).ca;
  };
  expect(believedBy("authority")).toBe("authority");
  // Undefined would be the authorities of the whole web.
  expect(believedBy(undefined)).toEqual([]);
});

it("refuses to ask for certificates that nobody can judge", () => {
  const identity = { pair, clientAuthorityPem: undefined };
  expect(() => computeContextOptions({ identity, asksForCertificate: true }, identity)).toThrow("no authority");
});
