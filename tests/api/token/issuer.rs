//! A token issuer: key pairs and a key server.

use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING as P256, ECDSA_P384_SHA384_FIXED_SIGNING as P384, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384,
    RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
};
use test_support::{Fault, Forwarder, Value, json};

use super::sign::{encoded, token};

/// A fixed key pair, because generating an RSA key is slow.
const RSA: &[u8] = include_bytes!("rsa.pk8");

/// A key pair.
pub enum Pair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Pair {
    /// Loads the fixed RSA key pair.
    pub fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::from_pkcs8(RSA).expect("a key pair"))
    }

    /// Generates a P-256 key pair.
    pub fn ec() -> Self {
        Self::on_curve(&P256)
    }

    /// Generates a P-384 key pair.
    pub fn p384() -> Self {
        Self::on_curve(&P384)
    }

    fn on_curve(curve: &'static EcdsaSigningAlgorithm) -> Self {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::generate_pkcs8(curve, &random).expect("a key pair");
        Self::Ec(EcdsaKeyPair::from_pkcs8(curve, pair.as_ref(), &random).expect("a key pair"))
    }

    /// Generates an Ed25519 key pair.
    pub fn ed() -> Self {
        let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key pair");
        Self::Ed(Ed25519KeyPair::from_pkcs8(pair.as_ref()).expect("a key pair"))
    }

    /// Returns the public key as a JWK with an id.
    pub fn jwk(&self, kid: &str) -> Value {
        match self {
            Self::Rsa(pair) => {
                let public = PublicKeyComponents::<Vec<u8>>::from(pair.public());
                let (n, e) = (encoded(public.n), encoded(public.e));
                json!({"kty": "RSA", "kid": kid, "use": "sig", "n": n, "e": e})
            }
            Self::Ec(pair) => {
                let point = pair.public_key().as_ref();
                let (x, y) = point[1..].split_at(point.len() / 2);
                let crv = if x.len() == 32 { "P-256" } else { "P-384" };
                json!({"kty": "EC", "crv": crv, "kid": kid, "x": encoded(x), "y": encoded(y)})
            }
            Self::Ed(pair) => {
                let x = encoded(pair.public_key());
                json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": x})
            }
        }
    }

    /// Signs with the algorithm, or with one of the key if `algorithm` is of another type.
    fn sign(&self, algorithm: &str, signed: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let encoding: &dyn RsaEncoding = match algorithm {
                    "RS384" => &RSA_PKCS1_SHA384,
                    "RS512" => &RSA_PKCS1_SHA512,
                    "PS256" => &RSA_PSS_SHA256,
                    "PS384" => &RSA_PSS_SHA384,
                    "PS512" => &RSA_PSS_SHA512,
                    _ => &RSA_PKCS1_SHA256,
                };
                let done = pair.sign(encoding, &random, signed, &mut signature);
                done.map(|()| signature).expect("a signature")
            }
            Self::Ec(pair) => pair
                .sign(&random, signed)
                .expect("a signature")
                .as_ref()
                .to_vec(),
            Self::Ed(pair) => pair.sign(signed).as_ref().to_vec(),
        }
    }

    /// Builds a signed token.
    pub fn token(&self, header: &Value, claims: &Value) -> String {
        let algorithm = header["alg"].as_str().unwrap_or_default();
        token(header, claims, |signed| self.sign(algorithm, signed))
    }
}

/// Makes the key server respond to every request with these keys.
pub fn serve(server: &Forwarder, keys: &[Value]) {
    let body = json!({"keys": keys}).to_string();
    fail(server, Fault::Respond(200, body));
}

/// Makes every request to the key server fail in the same way.
pub fn fail(server: &Forwarder, fault: Fault) {
    server.fail(move |_| Some(fault.clone()));
}

/// Starts a key server. It forwards to a closed port until [`serve`] gives it keys.
pub fn key_server() -> Forwarder {
    Forwarder::to("http://127.0.0.1:1")
}
