/**
 * Browsers have these types of the Web Crypto API as globals, and the declarations of `@peculiar/x509` name them so.
 * Node.js has the same types, but `@types/node` declares them inside of `node:crypto`. The compiler's library of browsers
 * would supply them too, and with them a thousand globals that Node.js does not have.
 */
type Algorithm = import("node:crypto").webcrypto.Algorithm;
type AlgorithmIdentifier = import("node:crypto").webcrypto.AlgorithmIdentifier;
type BufferSource = import("node:crypto").webcrypto.BufferSource;
type Crypto = import("node:crypto").webcrypto.Crypto;
type CryptoKey = import("node:crypto").webcrypto.CryptoKey;
type CryptoKeyPair = import("node:crypto").webcrypto.CryptoKeyPair;
type EcKeyGenParams = import("node:crypto").webcrypto.EcKeyGenParams;
type EcKeyImportParams = import("node:crypto").webcrypto.EcKeyImportParams;
type EcdsaParams = import("node:crypto").webcrypto.EcdsaParams;
type KeyUsage = import("node:crypto").webcrypto.KeyUsage;
type RsaHashedImportParams = import("node:crypto").webcrypto.RsaHashedImportParams;
