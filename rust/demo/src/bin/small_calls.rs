//! `cargo run --release -p tenure-demo --bin small_calls`

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tenure_demo::small_calls::run()
}
