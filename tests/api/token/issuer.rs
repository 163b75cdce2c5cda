//! An issuer with key pairs, and its key server.

use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING as ECDSA, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    RSA_PKCS1_SHA256, RsaKeyPair,
};
use test_support::{Fault, Forwarder, Value, json};

use super::sign::{encoded, token};

/// Made once for these tests: making one takes long.
const RSA: &[u8] = include_bytes!("rsa.pk8");

/// A key pair.
pub enum Pair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Pair {
    /// The one RSA key pair.
    pub fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::from_pkcs8(RSA).expect("a key pair"))
    }

    /// A new one.
    pub fn ec() -> Self {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA, &random).expect("a key pair");
        Self::Ec(EcdsaKeyPair::from_pkcs8(&ECDSA, pair.as_ref(), &random).expect("a key pair"))
    }

    /// A new one.
    pub fn ed() -> Self {
        let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key pair");
        Self::Ed(Ed25519KeyPair::from_pkcs8(pair.as_ref()).expect("a key pair"))
    }

    /// The public key by an id.
    pub fn jwk(&self, kid: &str) -> Value {
        match self {
            Self::Rsa(pair) => {
                let public = PublicKeyComponents::<Vec<u8>>::from(pair.public());
                let (n, e) = (encoded(public.n), encoded(public.e));
                json!({"kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "n": n, "e": e})
            }
            Self::Ec(pair) => {
                let point = pair.public_key().as_ref();
                let (x, y) = (encoded(&point[1..33]), encoded(&point[33..]));
                json!({"kty": "EC", "crv": "P-256", "kid": kid, "x": x, "y": y})
            }
            Self::Ed(pair) => {
                let x = encoded(pair.public_key());
                json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": x})
            }
        }
    }

    fn sign(&self, signed: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let done = pair.sign(&RSA_PKCS1_SHA256, &random, signed, &mut signature);
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

    /// A token with this header and these claims.
    pub fn token(&self, header: &Value, claims: &Value) -> String {
        token(header, claims, |signed| self.sign(signed))
    }
}

/// A key server that answers each request with these keys.
pub fn serve(server: &Forwarder, keys: &[Value]) {
    answer(
        server,
        Fault::Answer(200, json!({"keys": keys}).to_string()),
    );
}

/// A key server that answers each request so.
pub fn answer(server: &Forwarder, fault: Fault) {
    server.fail(move |_| Some(fault.clone()));
}

/// A key server that nothing is behind of.
pub fn key_server() -> Forwarder {
    Forwarder::to("http://127.0.0.1:1")
}
